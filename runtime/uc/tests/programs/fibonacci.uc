// expect: Test = 610
class Program extends Object;

function int Fib(int n) { if (n < 2) return n; return Fib(n - 1) + Fib(n - 2); }
function int Test() { return Fib(15); }
