// expect: TestAdd = 7
// expect: TestMixed = 3
// expect: TestValue = 6
// expect: TestConditional = x 4
// expect: TestWhole = 3 -3 8 20000002
// expect: TestLarge = 2147483647
class Program extends Object;

function int TestAdd() { local int i; i = 3; i += 4; return i; }
function int TestMixed() { local int i; i = 2; i *= 1.5; return i; }
function int TestValue() { local int i; return (i += 3) + i; }
function string TestConditional() { local string s; local int i; i += s == "" ? 4 : 5; s $= i > 3 ? "x" : "y" $ "z"; s @= i; return s; }
function string TestWhole()
{
    local int i, j, k; local byte b; local float f;

    f = 0.5; i = 3; j = -3; b = 10; k = 20000001;
    i -= f; j += 0.5; b -= 2.9; k += 1.0;
    return i @ j @ b @ k;
}
function int TestLarge() { local int i; i += 3000000000.0; return i; }
