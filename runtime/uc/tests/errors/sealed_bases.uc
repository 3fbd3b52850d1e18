class Program extends Sealed;

// file: A.uc
class A extends Last;
// file: B.uc
class B extends Bound;
// file: Bound.uc
class Bound extends Object DLLBind(Lib);
