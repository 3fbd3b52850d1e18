// expect: Test = 9
class Program extends Object;

function int Test() { local array<int> a; local int i, s; a[0] = 4; a[1] = 1; a[2] = 5; a[3] = 8; foreach a(i) { if (i == 1) continue; if (i == 8) break; s += i; } return s; }
