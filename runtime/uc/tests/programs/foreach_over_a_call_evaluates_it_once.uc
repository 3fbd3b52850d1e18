// expect: Test = 7
// expect: TestCalls = 1
// expect: TestObject = 1
class Program extends Object;

var int Calls;
var array<int> Row;
function array<int> Make() { local array<int> a; Calls++; a.AddItem(3); a.AddItem(4); return a; }
function int Test() { local int i, s; foreach self.Make()(i) s += i; return s; }
function int TestCalls() { local int i; Calls = 0; foreach self.Make()(i) { } return Calls; }
function Program Next() { Calls++; return self; }
function int TestObject() { local int i; Row.AddItem(1); Row.AddItem(2); Calls = 0; foreach Next().Row(i) { } return Calls; }
