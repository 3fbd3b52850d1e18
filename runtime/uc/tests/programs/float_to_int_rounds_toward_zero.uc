// expect: TestUp = 2
// expect: TestDown = -2
// expect: TestLarge = 2147483647
class Program extends Object;

function int TestUp() { local float f; f = 2.9; return f; }
function int TestDown() { local float f; f = -2.9; return int(f); }
function int TestLarge() { local float f; f = 1e20; return int(f); }
