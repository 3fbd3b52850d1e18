// expect: TestLength = 3
// expect: TestGrow = 6
// expect: TestOutside = 0
// expect: TestShrink = 1
class Program extends Object;

function int TestLength() { local array<int> a; a.Length = 3; return a.Length; }
function int TestGrow() { local array<int> a; a[5] = 1; return a.Length; }
function int TestOutside() { local array<int> a; return a[3]; }
function int TestShrink() { local array<int> a; a[3] = 4; a.Length = 1; return a.Length; }
