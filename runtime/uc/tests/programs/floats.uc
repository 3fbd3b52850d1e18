// expect: TestSum = 0.3000
// expect: TestDivide = 3.5000
// expect: TestMod = 1.5000
// expect: TestInf = inf
class Program extends Object;

function float TestSum() { return 0.1 + 0.2; }
function float TestDivide() { return 7 / 2.0; }
function float TestMod() { return 5.5 % 2; }
function float TestInf() { local float z; return 1.0 / z; }
