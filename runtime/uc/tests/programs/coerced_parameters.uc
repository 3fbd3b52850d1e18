// expect: Test = 5 True
class Program extends Object;

function string Text(coerce string a, coerce string b) { return a @ b; }
function string Test() { return Text(5, true); }
