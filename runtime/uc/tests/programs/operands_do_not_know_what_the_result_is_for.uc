// expect: Test = 3.0000
// expect: TestNeg = -3.0000
// expect: TestNot = -6.0000
// expect: TestArg = 3.0000
class Program extends Object;

function float Same(float f) { return f; }
function float Test() { return 7 / 2; }
function float TestNeg() { return -(7 / 2); }
function float TestNot() { return ~5; }
function float TestArg() { return Same(7 / 2); }
