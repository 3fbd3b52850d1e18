// expect: Test = 2
// expect: TestFirst = 7
class Program extends Object;

var array<int> Values;
function int Test() { return Values.Length; }
function int TestFirst() { return Values[0]; }
defaultproperties
{
    Values.Empty
    Values.Add(5)
    Values.Add(7)
    Values.Add(9)
    Values.Remove(5)
}
