// expect: Test = 1
// expect: TestCopy = 2
class Program extends Object;

struct Pair { var int A, B; };
function int Test() { local Pair one, two; one.A = 1; two = one; two.A = 2; return one.A; }
function int TestCopy() { local Pair one, two; one.A = 1; two = one; two.A = 2; return two.A; }
