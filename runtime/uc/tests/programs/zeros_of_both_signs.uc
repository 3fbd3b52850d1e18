// expect: TestDefaults = 2 True True
// expect: TestSet = True True False 2
// expect: TestMap = 1 2
// expect: TestArray = 1 1
// expect: TestStruct = False True
// expect: TestNumbers = True
class Program extends Object;

struct Half { var float Value; };
var set<float> Zeros;
var map<float, int> ByZero;
var array<float> Row;

function string TestDefaults() { return Zeros.Length @ Zeros.Contains(0.0) @ Zeros.Contains(-0.0); }

function string TestSet()
{
    local set<float> S;
    local bool A, B, C;

    A = S.Add(0.0);
    B = S.Add(-0.0);
    C = S.Add(0.0);
    return A @ B @ C @ S.Length;
}

function string TestMap() { return ByZero[0.0] @ ByZero[-0.0]; }
function string TestArray() { Row.AddItem(0.0); Row.AddItem(-0.0); return Row.Find(-0.0) @ Row.RemoveItem(0.0); }
function string TestStruct() { local Half A, B; B.Value = -0.0; return (A == B) @ (B == B); }
function bool TestNumbers() { local float A, B; B = -0.0; return A == B; }

defaultproperties
{
    Zeros=(0.0,-0.0)
    ByZero=((0.0,1),(-0.0,2))
}
