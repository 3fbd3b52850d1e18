// expect: TestCounts = 4 4 2
// expect: TestCast = None
// expect: TestKind = 0
class Program extends Object;

enum ETeam { TEAM_RED_A, TEAM_RED_B };
const COUNT = ArrayCount(Rows);
var int Copies[ArrayCount(Rows)];
var int Rows[4] "rows of a table";
var int Teams[TEAM_RED_MAX];
var name Kind;
struct Part { var int Held; structcpptext { int x; } };

function string TestCounts() { return COUNT @ ArrayCount(Copies) @ ArrayCount(Teams); }
function int Other(int A, int B) { return A + B; }
function string TestCast() { local Object O; return string(Other(O)); }
function name TestKind() { return Kind; }
function int Read(const ref int Given) { return Given; }

defaultproperties
{
    Kind=0
}
// file: Other.uc
class Other extends Object;
