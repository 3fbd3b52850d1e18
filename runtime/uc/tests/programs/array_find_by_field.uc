// expect: Test = 1
// expect: TestNone = -1
class Program extends Object;

struct Item { var string Word; var int Cost; };
function array<Item> Make() { local array<Item> a; a.Length = 2; a[1].Word = "axe"; a[1].Cost = 5; return a; }
function int Test() { local array<Item> a; a = Make(); return a.Find('Cost', 5); }
function int TestNone() { local array<Item> a; a = Make(); return a.Find('Word', "bow"); }
