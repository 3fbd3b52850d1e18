// expect: TestOwn = 5
// expect: TestOverridden = 60
// expect: TestFirstBody = 7
// expect: TestBound = 4
class Program extends Object;

function int TestOwn() { local Bell b; b = new class'Bell'; return b.Ring(5); }
function int TestOverridden() { local Bell b; b = new class'Gong'; return b.Ring(6); }
function int TestFirstBody() { local Gong g; g = new class'Gong'; return g.Shake(7); }
function int TestBound() { local Gong g; g = new class'Gong'; g.OnRing = Plain; return g.Ring(4); }
function int Plain(int n) { return n; }
// file: Bell.uc
class Bell extends Object;
delegate int OnRing(int n) { return n; }
delegate int OnShake(int n);
function int Ring(int n) { return OnRing(n); }
// file: Gong.uc
class Gong extends Bell;
delegate int onring(int n) { return 10 * n; }
delegate int OnShake(int n) { return n; }
function int Shake(int n) { return OnShake(n); }
