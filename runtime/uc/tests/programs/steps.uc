// expect: TestPost = 3
// expect: TestPre = 4
// expect: TestAfter = 4
class Program extends Object;

function int TestPost() { local int i; i = 3; return i++; }
function int TestPre() { local int i; i = 3; return ++i; }
function int TestAfter() { local int i; i = 3; i++; return i; }
