// expect: Test = 5
// expect: TestStruct = 3
class Program extends Object;

struct Row { var int Cells[3]; };
function int Test() { local int a[2]; a[1] = 5; return a[0] + a[1]; }
function int TestStruct() { local Row r[2]; r[1].Cells[2] = 3; return r[1].Cells[2]; }
