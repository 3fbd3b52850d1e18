// expect: TestAdd = 2
// expect: TestItem = 1
// expect: TestInsert = 9
// expect: TestRemove = 1
// expect: TestFind = 2
// expect: TestNone = -1
class Program extends Object;

function array<int> Make() { local array<int> a; a.AddItem(4); a.AddItem(5); a.AddItem(6); return a; }
function int TestAdd() { local array<int> a; a.Add(2); return a.Add(3); }
function int TestItem() { local array<int> a; a.AddItem(1); return a.AddItem(2); }
function int TestInsert() { local array<int> a; a = Make(); a.Insert(1, 2); a.InsertItem(0, 9); return a[0] + a[2]; }
function int TestRemove() { local array<int> a; a = Make(); a.Remove(0, 2); return a.Length; }
function int TestFind() { return Make().Find(6); }
function int TestNone() { return Make().Find(7); }
