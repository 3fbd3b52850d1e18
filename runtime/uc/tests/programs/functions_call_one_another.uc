// expect: Test = 120
class Program extends Object;

function int Factorial(int n) { return n < 2 ? 1 : n * Factorial(n - 1); }
function int Test() { return Factorial(5); }
