// expect: Test = 3
// expect: TestSelf = 4
class Program extends Object;

var int Count;
function int Test() { Count = 3; return Count; }
function int TestSelf() { self.Count = 4; return self.Count; }
