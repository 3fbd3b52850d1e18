// expect: Test = None
// expect: TestConcat = x None
class Program extends Object;

function string Text(coerce string s) { return s; }
function string Test() { return Text(none); }
function string TestConcat() { local Program p; return "x" @ p; }
