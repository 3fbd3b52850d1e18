// expect: TestA = 4
// expect: TestB = two
// expect: TestRow = 6
// expect: TestRest = 9
class Program extends Object;

struct Item { var int A; var string B; var int Row[3]; structdefaultproperties { A=9 } };
var Item One, Two; var array<Item> All;
function int TestA() { return One.A; }
function string TestB() { return All[1].B; }
function int TestRow() { return One.Row[2]; }
function int TestRest() { return Two.A; }
defaultproperties
{
    One=(A=4,B="one",Row(2)=6)
    Two=(B="x")
    All=((A=1,B="one"),(A=2,B="two"))
}
