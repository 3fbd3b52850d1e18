// expect: Test = 3
// expect: TestNone = True
// expect: TestClass = Other
class Program extends Object;

function int Test() { local Other o; o = new class'Other'; o.Value = 3; return o.Value; }
function bool TestNone() { local Object o; o = new class'Other'; return Program(o) == none; }
function string TestClass() { local Object o; o = new class'Other'; return string(o.Class); }
// file: Other.uc
class Other extends Object;
var int Value;
