// expect: TestOrder = 2
// expect: TestTemplate = 7 2 0
// expect: TestStatement = 1
class Program extends Object;

var int Calls, Number;
var array<int> Row;

function Object Next() { Calls++; return self; }
function string Called() { Calls++; return "Made"; }
function int TestOrder() { local Program P; Calls = 0; P = new(Next(), Called()) class'Program'; return P == none ? -1 : Calls; }

function string TestTemplate()
{
    local Program T, P;

    T = new class'Program';
    T.Number = 7;
    T.Row.Add(2);
    P = new class'Program'(T);
    T.Row.Empty();
    return P.Number @ P.Row.Length @ T.Row.Length;
}

function int TestStatement() { local class<Program> Kind; Kind = class'Program'; new Kind; return 1; }
