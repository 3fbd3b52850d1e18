// expect: TestConcat = ab
// expect: TestSpaced = a b
// expect: TestNumber = n=5
// expect: TestFloat = 1.5000
// expect: TestBool = True
// expect: TestEscape = a"b\c
class Program extends Object;

function string TestConcat() { return "a" $ "b"; }
function string TestSpaced() { return "a" @ "b"; }
function string TestNumber() { return "n=" $ 5; }
function string TestFloat() { return "" $ 1.5; }
function string TestBool() { return string(true); }
function string TestEscape() { return "a\"b\\c"; }
