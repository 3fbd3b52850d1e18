// expect: Test = 9
// expect: TestClass = 16
class Program extends Object;

static function int Square(int i) { return i * i; }
function int Test() { return Square(3); }
function int TestClass() { return class'Program'.static.Square(4); }
