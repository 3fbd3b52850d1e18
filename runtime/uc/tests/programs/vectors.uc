// expect: TestSum = 5.00,7.00,9.00
// expect: TestScale = 2.00,4.00,6.00
// expect: TestDot = 32.0000
// expect: TestCross = -3.00,6.00,-3.00
// expect: TestNeg = -1.00,-2.00,-3.00
// expect: TestEqual = True
// expect: TestField = 3.0000
class Program extends Object;

function vector TestSum() { return vect(1,2,3) + vect(4,5,6); }
function vector TestScale() { return 2 * vect(1,2,3); }
function float TestDot() { return vect(1,2,3) dot vect(4,5,6); }
function vector TestCross() { return vect(1,2,3) cross vect(4,5,6); }
function vector TestNeg() { return -vect(1,2,3); }
function bool TestEqual() { return vect(1,2,3) == vect(1,2,3); }
function float TestField() { local vector v; v.Z = 3; return v.Z; }
