// expect: Test = 0
// expect: TestCall = 0
// expect: TestFixed = 7
// expect: TestForeach = 3 0
// expect: TestFind = -1 0 0
// expect: TestBeyond = -1
// expect: TestArguments = 1
// expect: TestAdd = False
class Program extends Object;

var int Value;
var int Row[3];
var array<int> Free;
var set<int> Marks;
struct Part { var array<int> Cells; };
function int Get() { return 5; }
function int Test() { local Program p; return p.Value; }
function int TestCall() { local Program p; return p.Get(); }
function int TestFixed() { local Program p; local int a[3]; a = p.Row; a[2] = 7; return a[1] + a[2]; }
function string TestForeach() { local Program p; local int v, times, sum; foreach p.Row(v) { times++; sum += v; } return times @ sum; }
function string TestFind() { local Program p; return p.Free.Find(0) @ p.Row.Find(0) @ p.Free.Length; }
function int TestBeyond() { local array<Part> Parts; return Parts[2].Cells.Find(0); }
function int Take(int N) { return N; }
function int TestArguments() { local Program p; local int i; p.Take(i++); return i; }
function bool TestAdd() { local Program p; return p.Marks.Add(3); }
