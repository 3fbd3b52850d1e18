// expect: TestVariable = 1 1 10
// expect: TestProperty = 1 1 10
// expect: TestTwo = 1 1 2 3
// expect: TestWhole = 7 1
// expect: TestConverted = 7
// expect: TestNested = 1 2 10
// expect: TestField = 1 0 10 1
// expect: TestAssigned = 11
// expect: TestLater = 2 2
// expect: TestGrown = 2 1
class Program extends Object;

var int Own;
struct Part { var int X, Y; };

function string Both(out int A, int B) { local string S; S = A @ B; A = 10; return S; }
function string Two(out int A, int B, out int C) { local string S; S = A @ B @ C; A = 4; C = 3; return S; }
function Fill(out int One, out array<int> All) { One = 5; All.Empty(); All.AddItem(7); }
function Round(out float One, out int Other) { One = 2.5; Other = 7; }

function string TestVariable() { local int I; local string S; I = 1; S = Both(I, I++); return S @ I; }
function string TestProperty() { local string S; Own = 1; S = Both(Own, Own++); return S @ Own; }
function string TestTwo() { local int I; local string S; I = 1; S = Two(I, I++, I); return S @ I; }
function string TestWhole() { local array<int> A; A.AddItem(1); Fill(A[0], A); return A[0] @ A.Length; }
function int TestConverted() { local int I; Round(I, I); return I; }
function int Raise(out int N) { N++; return N; }
function string TestNested() { local int I; local string S; I = 1; S = Both(I, Raise(I)); return S @ I; }
function string TestField() { local Part P; local string S; P.X = 1; S = Both(P.X, P.Y++); return S @ P.X @ P.Y; }
function int Sum(out int A, int B, out int C) { A = 4; C = 3; return B + 10; }
function int TestAssigned() { local int I; I = 1; I = Sum(I, I++, I); return I; }
function int Next() { return Own + 2; }
function Push(out array<int> All, int N) { All.AddItem(N); }
function string TestLater() { local array<int> A; Own = 0; A.AddItem(1); Push(A, Next()); return A.Length @ A[1]; }
function string TestGrown() { local array<int> A; A.AddItem(1); Push(A, A.AddItem(9)); return A.Length @ A[1]; }
