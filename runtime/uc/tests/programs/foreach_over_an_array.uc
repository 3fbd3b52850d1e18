// expect: Test = 15
// expect: TestIndex = 3
// expect: TestFixed = 6
// expect: TestCall = 15
class Program extends Object;

var int Sum;

function array<int> Make() { local array<int> a; a.AddItem(4); a.AddItem(5); a.AddItem(6); return a; }
function int Test() { local int i, s; local array<int> a; a = Make(); foreach a(i) s += i; return s; }
function int TestIndex() { local int i, at, s; local array<int> a; a = Make(); foreach a(i, at) { s += at; } return s; }
function int TestFixed() { local int v[3], i, s; v[0] = 1; v[1] = 2; v[2] = 3; foreach v(i) { s += i; } return s; }
function Count(int i) { Sum += i; }
function int TestCall() { local int i; local array<int> a; a = Make(); foreach a(i) Count(i); return Sum; }
