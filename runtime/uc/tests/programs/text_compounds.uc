// expect: Test = one two!
// expect: TestWithout = heo
class Program extends Object;

function string Test() { local string s; s = "one"; s @= "two"; s $= "!"; return s; }
function string TestWithout() { local string s; s = "hello"; s -= "l"; return s; }
