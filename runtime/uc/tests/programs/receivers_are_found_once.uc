// expect: TestPlace = 1
// expect: TestLater = 2 7 5
// expect: TestFind = 0
class Program extends Object;

struct Part { var array<int> Cells; };
var array<Part> Parts;
var array<int> Row;
var int Calls;

function int Next() { Calls++; return 0; }
function int Grow() { Row.AddItem(7); return Row.Length > 1 ? 7 : 5; }
function int TestPlace() { Calls = 0; Parts[Next()].Cells.AddItem(3); return Calls; }
function string TestLater() { Row.Empty(); Row.AddItem(Grow()); return Row.Length @ Row[0] @ Row[1]; }
function int TestFind() { local int at; Row.Empty(); at = Row.Find(7 + Grow() - 5); return at; }
