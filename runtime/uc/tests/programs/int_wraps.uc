// expect: TestAdd = -2147483648
// expect: TestMul = -2
// expect: TestNeg = -2147483648
class Program extends Object;

const MOST = 2147483647;
function int TestAdd() { local int i; i = MOST; i++; return i; }
function int TestMul() { local int i; i = MOST; return i * 2; }
function int TestNeg() { local int i; i = -2147483648; return -i; }
