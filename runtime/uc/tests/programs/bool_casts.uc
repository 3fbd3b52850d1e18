// expect: TestInt = True
// expect: TestZero = False
// expect: TestText = False
// expect: TestToInt = 1
class Program extends Object;

function bool TestInt() { return bool(3); }
function bool TestZero() { return bool(0.0); }
function bool TestText() { return bool(""); }
function int TestToInt() { return int(true); }
