// expect: TestOwn = 5
// expect: TestLiteral = 5
// expect: TestObject = 5
class Program extends Object;

var int I;
function int TestOwn() { I = 9; return default.I; }
function int TestLiteral() { I = 9; return class'Program'.default.I; }
function int TestObject() { I = 9; return self.default.I; }
defaultproperties { I=5 }
