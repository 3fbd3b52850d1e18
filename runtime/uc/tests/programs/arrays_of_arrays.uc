// expect: Test = 4
class Program extends Object;

function int Test() { local array<array<int> > a; a.Length = 2; a[1][3] = 4; return a[1][3]; }
