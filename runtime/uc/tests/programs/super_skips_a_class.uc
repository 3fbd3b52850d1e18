// expect: Test = 1
class Program extends Middle;

function int Value() { return 3; }
function int Test() { return super(Base).Value(); }
// file: Middle.uc
class Middle extends Base;
function int Value() { return 2; }
// file: Base.uc
class Base extends Object;
function int Value() { return 1; }
