// expect: TestOne = True
// expect: TestBoth = False
class Program extends Object;

function bool TestOne() { return true ^^ false; }
function bool TestBoth() { return true ^^ true; }
