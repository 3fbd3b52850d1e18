// expect: Test = 3
class Program extends Object;

function int Test() { local int i; { i = 1; { i += 2; } } ; return i; }
