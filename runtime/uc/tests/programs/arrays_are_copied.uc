// expect: Test = 1
class Program extends Object;

function int Test() { local array<int> a, b; a[0] = 1; b = a; b[0] = 2; return a[0]; }
