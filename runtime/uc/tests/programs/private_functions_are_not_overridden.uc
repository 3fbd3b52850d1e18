// expect: Test = 1
class Program extends Base;

function int Value() { return 2; }
function int Test() { return Call(); }
// file: Base.uc
class Base extends Object;
private function int Value() { return 1; }
function int Call() { return Value(); }
