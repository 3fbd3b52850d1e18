// expect: TestInt = 5
// expect: TestText = hi
// expect: TestBool = True
// expect: TestFloat = 2.5000
// expect: TestName = Tag
class Program extends Object;

var int I; var string S; var bool B; var float F; var name N;
function int TestInt() { return I; }
function string TestText() { return S; }
function bool TestBool() { return B; }
function float TestFloat() { return F; }
function name TestName() { return N; }
defaultproperties
{
    I=5
    S="hi"
    B=true
    F=2.5
    N=Tag
}
