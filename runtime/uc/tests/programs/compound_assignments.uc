// expect: TestAdd = 7
// expect: TestMixed = 3
// expect: TestValue = 6
class Program extends Object;

function int TestAdd() { local int i; i = 3; i += 4; return i; }
function int TestMixed() { local int i; i = 2; i *= 1.5; return i; }
function int TestValue() { local int i; return (i += 3) + i; }
