// expect: TestWrap = 44
// expect: TestSum = 300
// expect: TestCompare = True
class Program extends Object;

function byte TestWrap() { local byte b; local int i; i = 300; b = i; return b; }
function int TestSum() { local byte a, b; a = 200; b = 100; return a + b; }
function bool TestCompare() { local byte b; b = 200; return b > 100; }
