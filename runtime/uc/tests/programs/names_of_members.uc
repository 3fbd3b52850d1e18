// expect: TestNames = Health Program Speed Test EColor
// expect: TestCompare = True
class Program extends Object;

enum EColor { COLOR_Red, COLOR_Blue };
var int Health;

function string TestNames() { local Other P; return nameof(HEALTH) @ nameof(Program) @ nameof(P.speed) @ nameof(Program.test) @ nameof(EColor); }
function bool TestCompare() { return nameof(health) == 'Health'; }
function Test() { }
// file: Other.uc
class Other extends Object;
var float Speed;
