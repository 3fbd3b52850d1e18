// expect: TestEqual = False
// expect: TestLess = True
// expect: TestNot = True
class Program extends Object;

function bool TestEqual() { return "Abc" == "abc"; }
function bool TestLess() { return "abc" < "abd"; }
function bool TestNot() { return "a" != "b"; }
