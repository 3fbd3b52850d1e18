// expect: TestInt = 42
// expect: TestNone = 0
// expect: TestFloat = 2.5000
// expect: TestBack = 7
class Program extends Object;

function int TestInt() { return int("42abc"); }
function int TestNone() { return int("abc"); }
function float TestFloat() { return float("2.5"); }
function string TestBack() { return string(int(" 7")); }
