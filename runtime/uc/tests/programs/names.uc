// expect: TestEqual = True
// expect: TestCase = False
// expect: TestText = Foo
// expect: TestNone = False
// expect: TestFrom = Bar
class Program extends Object;

function bool TestEqual() { return 'Foo' == 'Foo'; }
function bool TestCase() { return 'Foo' == 'foo'; }
function string TestText() { return string('Foo'); }
function bool TestNone() { return bool('None'); }
function name TestFrom() { return name("Bar"); }
