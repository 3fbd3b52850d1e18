// expect: Test = 55
class Program extends Object;

function int Test() { local int i, s; while (i < 10) { i++; s += i; } return s; }
