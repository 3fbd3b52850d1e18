class Program extends Actor;

var int A, a;
var string Health;
function F() {}
function f(int i) {}
function A() {}
const C = 1;
const c = 2;
enum E { X, Y, x };
enum E { Z };
struct S { var int P; var int p; };
struct T extends S { var int P; };
function G(int i, int I) { local int j, J; local int i; }
delegate Label(); delegate int Take_Damage(int i); function K() { const D = 1; local int d; }
// file: Program2.uc
class PROGRAM extends Object;
