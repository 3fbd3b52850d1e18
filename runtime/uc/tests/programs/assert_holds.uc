// expect: Test = 1
class Program extends Object;

function int Test() { assert(1 + 1 == 2); return 1; }
