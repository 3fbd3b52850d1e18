// expect: Test = 7
// expect: TestText = xy
class Program extends Object;

function Change(int by, out int value, out string text) { value += by; text = text $ "y"; }
function int Test() { local int i; local string s; i = 3; Change(4, i, s); return i; }
function string TestText() { local int i; local string s; s = "x"; Change(1, i, s); return s; }
