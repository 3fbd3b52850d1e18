// expect: Test = 4
class Program extends Base;

function int Test() { return SIZE; }
// file: Base.uc
class Base extends Object;
const SIZE = 4;
