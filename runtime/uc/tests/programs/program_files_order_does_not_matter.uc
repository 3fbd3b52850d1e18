// expect: Test = 1
class Program extends B;

function int Test() { return Value(); }
// file: B.uc
class B extends A;
// file: A.uc
class A extends Object;
function int Value() { return 1; }
