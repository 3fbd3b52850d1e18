// expect: TestLong = 10000000000
// expect: TestDouble = 0.1000
// expect: TestUnsigned = 4294967295
// expect: TestMixed = 4294967296
// expect: TestSmall = -1
class Program extends Object;

function i64 TestLong() { return 10000000000; }
function double TestDouble() { local double d; d = 0.1; return d; }
function u32 TestUnsigned() { local u32 u; u--; return u; }
function i64 TestMixed() { local u32 u; local int i; u = 4294967295; i = 1; return u + i; }
function i16 TestSmall() { local i16 s; local int i; i = 65535; s = i; return s; }
