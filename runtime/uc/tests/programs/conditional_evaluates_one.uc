// expect: Test = 5
// expect: TestCalls = 1
class Program extends Object;

var int Calls;
function int One(int i) { Calls++; return i; }
function int Test() { return true ? One(5) : One(6); }
function int TestCalls() { Calls = 0; return false ? One(5) : One(1); }
