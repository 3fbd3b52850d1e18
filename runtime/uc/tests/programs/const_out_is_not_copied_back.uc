// expect: TestLocal = 2
// expect: TestElement = 2
// expect: TestConverted = 2
// expect: TestProperty = 2
// expect: TestMember = 2
// expect: TestPassedOn = 3
class Program extends Object;

var int Own;

function Increase(out int A, const ref int B) { A = B + 1; }
function IncreaseByFloat(out int A, const out float B) { A = int(B) + 1; }
function Change(const out int B) { Own = B + 1; }
function PassOn(const out int B, const ref int C) { Increase(Own, B); Own += C; }

function int TestLocal() { local int I; I = 1; Increase(I, I); return I; }
function int TestElement() { local array<int> Row; Row.AddItem(1); Increase(Row[0], Row[0]); return Row[0]; }
function int TestConverted() { local int I; I = 1; IncreaseByFloat(I, I); return I; }
function int TestProperty() { Own = 1; Increase(Own, Own); return Own; }
function int TestMember() { Own = 1; Change(Own); return Own; }
function int TestPassedOn() { Own = 1; PassOn(Own, Own); return Own; }
