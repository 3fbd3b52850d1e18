// expect: TestNone = 10
// expect: TestOne = 3
// expect: TestMiddle = 25
// expect: TestLater = 6
class Program extends Object;

function int Sum(int a, optional int b = 4, optional int c = a + b) { return a + b + c; }
function int TestNone() { return Sum(1); }
function int TestOne() { return Sum(1, 0, 2); }
function int TestMiddle() { return Sum(1, , 20); }
function int Next(int a, optional int b = c + 1, optional int c) { return b; }
function int TestLater() { return Next(1, , 5); }
