// expect: Test = 2
class Program extends Object;

function int Test() { if (true) if (false) return 1; else return 2; return 3; }
