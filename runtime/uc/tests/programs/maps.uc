// expect: Test = 7
// expect: TestNone = 0
// expect: TestLength = 2
// expect: TestRemove = True
// expect: TestContains = False
// expect: TestKeys = 2
class Program extends Object;

var map<name, int> Scores;
function Fill() { Scores.Empty(); Scores['a'] = 7; Scores.Set('b', 8); }
function int Test() { Fill(); return Scores['a']; }
function int TestNone() { Fill(); return Scores['c']; }
function int TestLength() { Fill(); return Scores.Length; }
function bool TestRemove() { Fill(); return Scores.Remove('a'); }
function bool TestContains() { Fill(); return Scores.Contains('z'); }
function int TestKeys() { Fill(); return Scores.Keys().Length; }
