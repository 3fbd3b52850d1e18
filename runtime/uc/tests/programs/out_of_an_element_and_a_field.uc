// expect: TestElement = 5
// expect: TestField = 6
class Program extends Object;

struct Pair { var int A, B; };
function Set(out int i, int to) { i = to; }
function int TestElement() { local array<int> a; a.Add(2); Set(a[1], 5); return a[1]; }
function int TestField() { local Pair p; Set(p.B, 6); return p.B; }
