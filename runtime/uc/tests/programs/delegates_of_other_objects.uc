// expect: Test = 7
// expect: TestEqual = True False
class Program extends Object;

delegate int Op(int i);
function int Test() { local Other o; o = new class'Other'; o.Value = 2; Op = o.Add; return Op(5); }
function string TestEqual() { local Other o; o = new class'Other'; Op = o.Add; return (Op == o.Add) @ (Op != o.Add); }
// file: Other.uc
class Other extends Object;
var int Value;
function int Add(int i) { return i + Value; }
