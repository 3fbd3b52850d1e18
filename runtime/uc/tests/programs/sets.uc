// expect: Test = 2
// expect: TestAgain = False
// expect: TestContains = True
// expect: TestSum = 9
class Program extends Object;

function int Test() { local set<int> s; s.Add(4); s.Add(5); s.Add(4); return s.Length; }
function bool TestAgain() { local set<int> s; s.Add(4); return s.Add(4); }
function bool TestContains() { local set<int> s; s.Add(4); return s.Contains(4); }
function int TestSum() { local set<int> s; local int i, sum; s.Add(4); s.Add(5); foreach s(i) sum += i; return sum; }
