// expect: TestNested = 3 1
// expect: TestOther = 2
// expect: TestOut = 4
class Program extends Object;

var int Calls;

singular function int Again(int N) { Calls++; return N > 0 ? 3 + Again(N - 1) : 5; }
singular function int Visit(Program P) { return P == none ? 1 : 1 + P.Visit(none); }
singular function Change(out int N) { local int Inner; Inner = 4; Change(Inner); N = Inner; }
function string TestNested() { local int Result; Calls = 0; Result = Again(1); return Result @ Calls; }
function int TestOther() { local Program P; P = new class'Program'; return Visit(P); }
function int TestOut() { local int N; Change(N); return N; }
