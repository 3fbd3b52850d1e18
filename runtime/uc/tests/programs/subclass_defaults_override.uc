// expect: Test = 8
// expect: TestOther = 2
class Program extends Base;

function int Test() { return A; }
function int TestOther() { return B; }
defaultproperties { A=8 }
// file: Base.uc
class Base extends Object;
var int A, B;
defaultproperties { A=1; B=2; }
