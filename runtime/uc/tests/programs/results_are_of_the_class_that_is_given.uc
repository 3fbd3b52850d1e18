// expect: TestWritten = 3
// expect: TestValue = 3
// expect: TestOther = True
// expect: TestAsStatement = 4
class Program extends Object;

var int Made;

function coerce Object Make(class<Object> Kind, optional int N) { Made++; return N > 5 ? none : new Kind; }
function int TestWritten() { return Make(class'Leaf').Count; }
function int TestValue() { local class<Leaf> C; local Leaf L; C = class'Leaf'; L = Make(C, 1); return L.Count; }
function bool TestOther() { return Make(class'Leaf', 6) == none; }
function int TestAsStatement() { Make(class'Leaf'); return Made; }
// file: Leaf.uc
class Leaf extends Object;
var int Count;
defaultproperties { Count=3 }
