// expect: Test = -1
// expect: TestMost = 2147483647
class Program extends Object;

function int Test() { return INDEX_NONE; }
function int TestMost() { return MaxInt; }
