// expect: TestInt = 7
// expect: TestNegative = -3
// expect: TestText = hi
// expect: TestHex = 255
// expect: TestOther = 7
class Program extends Object;

const SEVEN = 7; const MINUS = -3; const WORD = "hi"; const BITS = 0xFF; const AGAIN = SEVEN;
function int TestInt() { return SEVEN; }
function int TestNegative() { return MINUS; }
function string TestText() { return WORD; }
function int TestHex() { return BITS; }
function int TestOther() { return AGAIN; }
