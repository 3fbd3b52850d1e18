// expect: Test = 7
// expect: TestText = x
class Program extends Object;

struct Config { var int Size; var string Word; structdefaultproperties { Size=7; Word="x" } };
function int Test() { local Config c; return c.Size; }
function string TestText() { local Config c; return c.Word; }
