// expect: Test = 21
class Program extends Object;

function int Gcd(int a, int b) { local int t; while (b != 0) { t = a % b; a = b; b = t; } return a; }
function int Test() { return Gcd(1071, 462); }
