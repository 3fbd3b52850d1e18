// expect: Test = b
// expect: TestLast = c
class Program extends Object;

function string Pick(int i) { if (i == 1) return "a"; else if (i == 2) return "b"; else return "c"; }
function string Test() { return Pick(2); }
function string TestLast() { return Pick(3); }
