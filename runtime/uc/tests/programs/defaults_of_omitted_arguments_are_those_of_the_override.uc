// expect: TestNone = 0
// expect: TestNoneByBase = 0
// expect: TestOther = 7
// expect: TestOtherByBase = 7
// expect: TestSuper = 5
class Program extends Base;

function int Without(optional int a) { return a; }
function int With(optional int a = 7) { return a; }
function int TestNone() { return Without(); }
function int TestNoneByBase() { return CallWithout(); }
function int TestOther() { return With(); }
function int TestOtherByBase() { return CallWith(); }
function int TestSuper() { return super.Without(); }
// file: Base.uc
class Base extends Object;
function int Without(optional int a = 5) { return a; }
function int With(optional int a = 5) { return a; }
function int CallWithout() { return Without(); }
function int CallWith() { return With(); }
