// expect: TestInt = 5
// expect: TestText = hi
// expect: TestBool = True
// expect: TestFloat = 2.5000
// expect: TestName = Tag
// expect: TestRoundedOnce = True
class Program extends Object;

var int I; var string S; var bool B; var float F; var name N; var float Large;
function int TestInt() { return I; }
function string TestText() { return S; }
function bool TestBool() { return B; }
function float TestFloat() { return F; }
function name TestName() { return N; }
// The nearest float is 2^60 + 2^37. Rounding to a double first results in 2^60.
function bool TestRoundedOnce() { local float Written; Written = 1152921573326323713; return Large == Written; }
defaultproperties
{
    I=5
    S="hi"
    B=true
    F=2.5
    N=Tag
    Large=1152921573326323713
}
