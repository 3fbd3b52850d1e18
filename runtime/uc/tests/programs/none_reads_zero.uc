// expect: Test = 0
// expect: TestCall = 0
// expect: TestFixed = 7
class Program extends Object;

var int Value;
var int Row[3];
function int Get() { return 5; }
function int Test() { local Program p; return p.Value; }
function int TestCall() { local Program p; return p.Get(); }
function int TestFixed() { local Program p; local int a[3]; a = p.Row; a[2] = 7; return a[1] + a[2]; }
