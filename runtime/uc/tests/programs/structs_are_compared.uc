// expect: TestSame = True
// expect: TestOther = False
class Program extends Object;

struct Pair { var int A, B; };
function bool TestSame() { local Pair one, two; return one == two; }
function bool TestOther() { local Pair one, two; two.B = 1; return one == two; }
