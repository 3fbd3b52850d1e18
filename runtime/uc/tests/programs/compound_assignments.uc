// expect: TestAdd = 7
// expect: TestMixed = 3
// expect: TestValue = 6
// expect: TestConditional = x 4
class Program extends Object;

function int TestAdd() { local int i; i = 3; i += 4; return i; }
function int TestMixed() { local int i; i = 2; i *= 1.5; return i; }
function int TestValue() { local int i; return (i += 3) + i; }
function string TestConditional() { local string s; local int i; i += s == "" ? 4 : 5; s $= i > 3 ? "x" : "y" $ "z"; s @= i; return s; }
