// expect: TestNames = Health Program Speed Test EColor
// expect: TestOtherCase = Program EColor Most
// expect: TestCompare = True
// expect: TestOwn = Step health
// expect: TestMember = Health
class Program extends Object;

enum EColor { COLOR_Red, COLOR_Blue };
const Most = 5;
var int Health;

function string TestNames() { local Other P; return nameof(HEALTH) @ nameof(Program) @ nameof(P.speed) @ nameof(Program.test) @ nameof(EColor); }
function string TestOtherCase() { return nameof(PROGRAM) @ nameof(ecolor) @ nameof(MOST); }
function bool TestCompare() { return nameof(health) == 'Health'; }
function string TestOwn() { const Step = 5; const health = 6; return nameof(STEP) @ nameof(HEALTH); }
function string TestMember() { local int HEALTH; return "" $ nameof(Program.health); }
function Test() { }
// file: Other.uc
class Other extends Object;
var float Speed;
