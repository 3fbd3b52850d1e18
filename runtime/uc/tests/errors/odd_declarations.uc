class Program extends Actor;

foo int A;
variable int B;
function;
var;
struct { var int A; };
enum E { A = 5, B };
var int C[0], D[-1], F[99999999], G[Missing], H["x"];
const K = Health;
const L = M; const M = L;
const N = Rand(5);
class Second extends Object;
