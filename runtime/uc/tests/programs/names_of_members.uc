// expect: TestNames = health program speed Test EColor
// expect: TestCompare = True
class Program extends Actor;

enum EColor { COLOR_Red, COLOR_Blue };

function string TestNames() { local Pawn P; return nameof(HEALTH) @ nameof(program) @ nameof(P.Speed) @ nameof(Program.test) @ nameof(EColor); }
function bool TestCompare() { return nameof(Health) == 'health'; }
function Test() { }
