// expect: TestDivide = 0
// expect: TestRest = 0
class Program extends Object;

function int Zero() { return 0; }
function int TestDivide() { return 5 / Zero(); }
function int TestRest() { return 5 % Zero(); }
