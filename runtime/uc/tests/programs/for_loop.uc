// expect: Test = 45
// expect: TestDown = 6
class Program extends Object;

function int Test() { local int i, s; for (i = 0; i < 10; i++) s += i; return s; }
function int TestDown() { local int i, s; for (i = 3; i > 0; i--) { s += i; } return s; }
