// expect: Test = 3
class Program extends Object;

enum EKind { K_A, K_B, K_C };
var int Counts[EKind];
function int Test() { return ArrayCount(Counts); }
