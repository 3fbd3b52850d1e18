// expect: Test = 7
class Program extends Object;

struct Inner { var int X; };
struct Outer { var Inner I; var array<Inner> Rest; };
function int Test() {
    local Outer o;
    o.I.X = 3;
    o.Rest.Add(1);
    o.Rest[0].X = 4;
    return o.I.X + o.Rest[0].X;
}
