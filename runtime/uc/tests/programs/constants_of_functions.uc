// expect: TestOne = 5.5000
// expect: TestSame = 7
// expect: TestLength = 3
class Program extends Object;

function float TestOne() { const STEP = 5; local float F; F = STEP; return F + 0.5; }
function int TestSame() { const STEP = 7; switch (7) { case STEP: const INNER = STEP; return INNER; } return 0; }
function int TestLength() { const LEN = 3; local int Rows[LEN]; return ArrayCount(Rows); }
