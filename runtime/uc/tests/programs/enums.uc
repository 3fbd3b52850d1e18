// expect: TestText = C_Green
// expect: TestInt = 2
// expect: TestCast = C_Blue
// expect: TestMax = 3
// expect: TestCount = 3
// expect: TestName = C_Green
// expect: TestNameBeyond = 256 -1 7 C_Blue
class Program extends Object;

enum EColor { C_Red, C_Green, C_Blue };
function string TestText() { return string(C_Green); }
function int TestInt() { return C_Blue; }
function EColor TestCast() { return EColor(2); }
function int TestMax() { return C_MAX; }
function int TestCount() { return EnumCount(EColor); }
function name TestName() { return GetEnum(enum'EColor', 1); }
function string TestNameBeyond() { local int i; local EColor c; i = 256; c = C_Blue; return "" $ GetEnum(enum'EColor', i) @ GetEnum(enum'EColor', -1) @ GetEnum(enum'EColor', 7) @ GetEnum(enum'EColor', c); }
