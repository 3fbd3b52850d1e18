// expect: Test = middle
// expect: TestNumber = 2
class Program extends Object;

enum ESize { SIZE_Small, SIZE_Middle, SIZE_Large };
function string Word(ESize s) { switch (s) { case SIZE_Small: return "small"; case SIZE_Middle: return "middle"; default: return "large"; } }
function string Test() { return Word(SIZE_Middle); }
function int TestNumber() { local byte b; b = 2; switch (b) { case SIZE_Small: return 0; case SIZE_Large: return 2; } return -1; }
