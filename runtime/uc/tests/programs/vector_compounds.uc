// expect: Test = 4.00,6.00,8.00
// expect: TestDivide = 0.50,1.00,1.50
class Program extends Object;

function vector Test() { local vector v; v = vect(1,2,3); v += vect(1,1,1); v *= 2; return v; }
function vector TestDivide() { local vector v; v = vect(1,2,3); v /= 2; return v; }
