// expect: TestNamed = 0 9 0
// expect: TestRow = 1 2 0 0
// expect: TestInStruct = 6 9 0
// expect: TestNothing = 0 0
class Program extends Object;

struct Part { var int Cells[3]; var int Row[4]; var int Gone[2]; structdefaultproperties {
    Cells(1)=9
    Row=(1,2)
    Gone=
} };
var Part P;

function string TestNamed() { local Part L; return L.Cells[0] @ L.Cells[1] @ L.Cells[2]; }
function string TestRow() { local Part L; return L.Row[0] @ L.Row[1] @ L.Row[2] @ L.Row[3]; }
function string TestInStruct() { return P.Cells[0] @ P.Cells[1] @ P.Cells[2]; }
function string TestNothing() { local Part L; return L.Gone[0] @ L.Gone[1]; }

defaultproperties
{
    P=(Cells[0]=6)
}
