// expect: Test = 25
// expect: TestEqual = True
// expect: TestNone = True
class Program extends Object;

delegate int Op(int i);
function int Square(int i) { return i * i; }
function int Apply(delegate<Op> f, int i) { return f(i); }
function int Test() { return Apply(Square, 5); }
function bool TestEqual() { local delegate<Op> f; f = Square; Op = f; return Op == f; }
function bool TestNone() { local delegate<Op> f; return f == none; }
