// expect: Test = 1
// expect: TestMax = 2
class Program extends Object;

enum EOne { X_A, X_B };
enum ETwo { X_C, X_D };
function int Test() { return EOne.X_B; }
function int TestMax() { return ETwo.ETwo_MAX; }
