// expect: TestNone = 0
// expect: TestOwn = 7
// expect: TestRequired = 0
// expect: TestPassed = 3
// expect: TestFixed = 9
class Program extends Object implements(Tuned, Filled);

function int Tune(optional int Pitch) { return Pitch; }
function int Fill(int Row[3]) { Row[2] = 9; return Row[1] + Row[2]; }
function int TestNone() { local Tuned T; T = self; return T.Tune(); }
function int TestOwn() { local Tuned T; T = new class'Own'; return T.Tune(); }
function int TestRequired() { local Tuned T; T = new class'Required'; return T.Tune(); }
function int TestPassed() { local Tuned T; T = new class'Own'; return T.Tune(3); }
function int TestFixed() { local Filled F; F = self; return F.Fill(); }
// file: Own.uc
class Own extends Object implements(Tuned);

function int Tune(optional int Pitch = 7) { return Pitch; }
// file: Required.uc
class Required extends Object implements(Tuned);

function int Tune(int Pitch) { return Pitch; }
// file: Filled.uc
interface Filled extends Interface;

function int Fill(optional int Row[3]);
