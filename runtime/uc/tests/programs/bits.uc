// expect: Test = 14
// expect: TestNot = -6
// expect: TestHex = -1
class Program extends Object;

function int Test() { return (12 & 10) | (12 ^ 10); }
function int TestNot() { return ~5; }
function int TestHex() { return 0xFFFFFFFF; }
