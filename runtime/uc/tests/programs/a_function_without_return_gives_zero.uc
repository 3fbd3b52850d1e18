// expect: Test = 0
// expect: TestText =
class Program extends Object;

function int Nothing() { }
function string NoText() { }
function int Test() { return Nothing(); }
function string TestText() { return NoText(); }
