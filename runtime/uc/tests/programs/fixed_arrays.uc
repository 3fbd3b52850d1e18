// expect: Test = 6
// expect: TestCount = 4
// expect: TestLength = 4
class Program extends Object;

const SIZE = 4;
var int Values[SIZE];
function int Test() { local int i, s; for (i = 0; i < ArrayCount(Values); i++) Values[i] = i; for (i = 0; i < SIZE; i++) s += Values[i]; return s; }
function int TestCount() { return ArrayCount(Values); }
function int TestLength() { return Values.Length; }
