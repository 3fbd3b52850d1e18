// expect: Test = 4
// expect: TestOfClass = 9 4 2
class Program extends Base;

const SAME = class'Other'.const.WIDTH;
var int Row[class'Other'.CONST.Count];

function int Test() { return SIZE; }
function string TestOfClass() { return SAME @ class'Base'.const.SIZE @ ArrayCount(Row); }
// file: Base.uc
class Base extends Object;
const SIZE = 4;
// file: Other.uc
class Other extends Object;
const WIDTH = 9;
const COUNT = 2;
