// expect: TestNames = Health Program Speed Test EColor
// expect: TestOtherCase = Program EColor Most
// expect: TestCompare = True
class Program extends Object;

enum EColor { COLOR_Red, COLOR_Blue };
const Most = 5;
var int Health;

function string TestNames() { local Other P; return nameof(HEALTH) @ nameof(Program) @ nameof(P.speed) @ nameof(Program.test) @ nameof(EColor); }
function string TestOtherCase() { return nameof(PROGRAM) @ nameof(ecolor) @ nameof(MOST); }
function bool TestCompare() { return nameof(health) == 'Health'; }
function Test() { }
// file: Other.uc
class Other extends Object;
var float Speed;
