// expect: Test = 3
// expect: TestUp = 1
class Program extends Object;

struct Base { var int A; };
struct More extends Base { var int B; };
function int Test() { local More m; m.A = 1; m.B = 2; return m.A + m.B; }
function int First(Base b) { return b.A; }
function int TestUp() { local More m; m.A = 1; return First(m); }
