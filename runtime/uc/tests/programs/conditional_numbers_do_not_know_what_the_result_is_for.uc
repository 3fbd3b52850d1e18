// expect: Test = 5.0000
// expect: TestInt = 2
class Program extends Object;

function float Test() { return 2 * (true ? 2.5 : 1.0); }
function int TestInt() { local bool b; local int i; i = b ? 1.5 : 2.5; return i; }
