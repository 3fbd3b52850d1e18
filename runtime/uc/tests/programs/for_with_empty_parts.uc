// expect: Test = 4
class Program extends Object;

function int Test() { local int i; for (;;) { i++; if (i > 3) break; } return i; }
