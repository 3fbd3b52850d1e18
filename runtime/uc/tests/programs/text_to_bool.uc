// expect: TestWords = True False True False
// expect: TestNumbers = False True True False False
// expect: TestOther = False False
// expect: TestCoerced = False
// expect: TestLong = True
class Program extends Object;

function string TestWords() { return bool("true") @ bool("false") @ bool(" TRUE ") @ bool("truely"); }
function string TestNumbers() { return bool("0") @ bool("12") @ bool("-1") @ bool("0.5") @ bool("000"); }
function string TestOther() { return bool("") @ bool("yes"); }
function string TestCoerced() { return string(Given("false")); }
function bool Given(coerce bool b) { return b; }
function bool TestLong() { return bool("18446744073709551616"); }
