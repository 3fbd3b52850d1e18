// expect: TestVariable = 1 1 10
// expect: TestProperty = 1 1 10
// expect: TestTwo = 1 1 2 3
// expect: TestWhole = 7 1
// expect: TestConverted = 7
class Program extends Object;

var int Own;

function string Both(out int A, int B) { local string S; S = A @ B; A = 10; return S; }
function string Two(out int A, int B, out int C) { local string S; S = A @ B @ C; A = 4; C = 3; return S; }
function Fill(out int One, out array<int> All) { One = 5; All.Empty(); All.AddItem(7); }
function Round(out float One, out int Other) { One = 2.5; Other = 7; }

function string TestVariable() { local int I; local string S; I = 1; S = Both(I, I++); return S @ I; }
function string TestProperty() { local string S; Own = 1; S = Both(Own, Own++); return S @ Own; }
function string TestTwo() { local int I; local string S; I = 1; S = Two(I, I++, I); return S @ I; }
function string TestWhole() { local array<int> A; A.AddItem(1); Fill(A[0], A); return A[0] @ A.Length; }
function int TestConverted() { local int I; Round(I, I); return I; }
