// expect: Test = 8 yes 2 none
class Program extends Object;

var int A;
var string Title<ToolTip="more (> 1) or less"|Group=One>;
var array<int> Row;

delegate int OnAsk(int I) { return I; }
delegate OnDone();
function int Twice(int I) { return 2 * I; }
function Done();

function string Test()
{
    local string S;

    S = OnAsk(4) @ Title @ Row.Length;
    __OnDone__Delegate = none;
    return S @ (OnDone == none ? "none" : "bound");
}

defaultproperties
{
    A=+1;
    Row=(
        1,
        2
    )
    Title="yes"
    OnAsk=Program.Twice
    __OnDone__Delegate=Done
    Name="Default__Program"
    ObjectArchetype=Object'Core.Default__Object'
}
