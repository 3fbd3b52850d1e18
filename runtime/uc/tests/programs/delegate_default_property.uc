// expect: Test = 6
class Program extends Object;

delegate int Op(int i);
function int Twice(int i) { return 2 * i; }
function int Test() { return Op(3); }
defaultproperties { Op=Twice }
