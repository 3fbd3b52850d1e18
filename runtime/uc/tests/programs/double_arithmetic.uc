// expect: Test = True
// expect: TestOther = True
// expect: TestSum = True
class Program extends Object;

function bool Test() { local double d; d = 0.1; return d + 0.2 == 0.1 + 0.2 || d * 10 == 1; }
function bool TestOther() { local double d; local float f; f = 0.5; d = f; return d == f; }
function bool TestSum() { local double d; d = 0.1 + 0.2; return d == 0.1 + 0.2; }
