// expect: TestLeft = 160
// expect: TestRight = -4
// expect: TestZeros = 536870908
// expect: TestMasked = 2
class Program extends Object;

function int TestLeft() { return 5 << 5; }
function int TestRight() { local int i; i = -32; return i >> 3; }
function int TestZeros() { local int i; i = -32; return i >>> 3; }
function int TestMasked() { return 1 << 33; }
