// expect: Test = 25
// expect: TestEqual = True
// expect: TestNone = True
// expect: TestLeftAway = 15
class Program extends Object;

delegate int Op(int i);
function int Square(int i) { return i * i; }
function int Apply(delegate<Op> f, int i) { return f(i); }
function int Test() { return Apply(Square, 5); }
function bool TestEqual() { local delegate<Op> f; f = Square; Op = f; return Op == f; }
function bool TestNone() { local delegate<Op> f; return f == none; }
delegate int Sum(int a, optional int b);
function int Plus(int a, optional int b) { return a + b; }
function int TestLeftAway() { local delegate<Sum> f; f = Plus; Sum = Plus; return f(1) * 10 + Sum(2) + f(1, 2); }
