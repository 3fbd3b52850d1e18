// expect: Test = 2
// expect: TestSuper = 1
// expect: TestBoth = 12
class Program extends Base;

function int Value() { return 2; }
function int Test() { return Call(); }
function int TestSuper() { return super.Value(); }
function int TestBoth() { return Super(Base).Value() * 10 + Value(); }
// file: Base.uc
class Base extends Object;
function int Value() { return 1; }
function int Call() { return Value(); }
