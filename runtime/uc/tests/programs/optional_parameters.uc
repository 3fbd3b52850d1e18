// expect: TestNone = 10
// expect: TestOne = 3
// expect: TestMiddle = 25
class Program extends Object;

function int Sum(int a, optional int b = 4, optional int c = a + b) { return a + b + c; }
function int TestNone() { return Sum(1); }
function int TestOne() { return Sum(1, 0, 2); }
function int TestMiddle() { return Sum(1, , 20); }
