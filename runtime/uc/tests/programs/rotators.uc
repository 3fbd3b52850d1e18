// expect: Test = 0,16384,0
// expect: TestSum = 1,3,5
// expect: TestField = 7
class Program extends Object;

function rotator Test() { return rot(0,16384,0); }
function rotator TestSum() { return rot(1,2,3) + rot(0,1,2); }
function int TestField() { local rotator r; r.Yaw = 7; return r.Yaw; }
