// expect: Test = one two!
// expect: TestWithout = heo
// expect: TestWithoutNumber = ab
class Program extends Object;

function string Test() { local string s; s = "one"; s @= "two"; s $= "!"; return s; }
function string TestWithout() { local string s; s = "hello"; s -= "l"; return s; }
function string TestWithoutNumber() { local string s; s = "a1b1"; s -= 1; return s; }
