// expect: Test = 0
// expect: TestCall = 0
class Program extends Object;

var int Value;
function int Get() { return 5; }
function int Test() { local Program p; return p.Value; }
function int TestCall() { local Program p; return p.Get(); }
