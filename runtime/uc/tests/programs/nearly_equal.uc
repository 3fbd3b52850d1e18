// expect: TestFloat = True
// expect: TestFar = False
// expect: TestText = True
// expect: TestOther = False
class Program extends Object;

function bool TestFloat() { return 1.00001 ~= 1.0; }
function bool TestFar() { return 1.1 ~= 1.0; }
function bool TestText() { return "Abc" ~= "aBC"; }
function bool TestOther() { return "Abc" ~= "abd"; }
