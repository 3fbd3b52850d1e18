// expect: Test = 3
class Program extends Object;

function int Test() { local int i; do { i++; } while (i < 3); return i; }
