// expect: Test = 2
class Program extends Object;

var int Value;
function void Set() { Value = 2; }
function int Test() { Set(); return Value; }
