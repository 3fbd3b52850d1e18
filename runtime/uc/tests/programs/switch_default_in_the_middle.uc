// expect: TestNone = 12
// expect: TestLast = 2
class Program extends Object;

function int Pick(int i) {
    local int s;
    switch (i) { case 1: return 1; default: s = 10; case 3: s += 2; }
    return s;
}
function int TestNone() { return Pick(8); }
function int TestLast() { return Pick(3); }
