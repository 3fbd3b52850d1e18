// expect: TestOne = 6
// expect: TestTwo = 5
// expect: TestOther = 100
class Program extends Object;

function int Pick(int i) {
    local int s;
    switch (i) { case 1: s += 1; case 2: s += 5; break; case 3: s = 9; break; default: s = 100; }
    return s;
}
function int TestOne() { return Pick(1); }
function int TestTwo() { return Pick(2); }
function int TestOther() { return Pick(7); }
