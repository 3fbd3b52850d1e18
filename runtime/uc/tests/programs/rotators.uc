// expect: Test = 0,16384,0
// expect: TestSum = 1,3,5
// expect: TestField = 7
// expect: TestWraps = -2147483648,5,2
// expect: TestScaled = 705032704,7,17
// expect: TestNegative = -2147483648,0,0
// expect: TestByZero = 0,0,0
class Program extends Object;

function rotator Test() { return rot(0,16384,0); }
function rotator TestSum() { return rot(1,2,3) + rot(0,1,2); }
function int TestField() { local rotator r; r.Yaw = 7; return r.Yaw; }
function rotator TestWraps() { local rotator r; r = rot(2147483647,5,1); return r + rot(1,0,1); }
function rotator TestScaled() { local rotator r; r = rot(2000000000,3,7); return r * 2.5; }
function rotator TestNegative() { local rotator r; r.Pitch = -2147483647; r.Pitch -= 1; return -r; }
function rotator TestByZero() { local rotator r; local float f; r = rot(7,-7,3); return r / f; }
