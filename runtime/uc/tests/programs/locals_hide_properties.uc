// expect: Test = 1
class Program extends Object;

var int I;
function int Test() { local int I; I = 1; self.I = 5; return I; }
