// expect: TestInt = 42
// expect: TestNone = 0
// expect: TestFloat = 2.5000
// expect: TestBack = 7
// expect: TestExponent = 1500.0000
// expect: TestDots = 1.2000
// expect: TestLong = 7
class Program extends Object;

function int TestInt() { return int("42abc"); }
function int TestNone() { return int("abc"); }
function float TestFloat() { return float("2.5"); }
function string TestBack() { return string(int(" 7")); }
function float TestExponent() { return float("1.5e3"); }
function float TestDots() { return float("1.2.3"); }
function int TestLong() { return int("100000000000000000000000000000000000000000000000007"); }
