class Program extends Actor;

native function A();
native(130) static final operator(20) int + (int A, int B);
native final latent function B();
iterator function C();
latent function D() {}
var native pointer P;
var map{FName, INT} M;
cpptext { int X; }
var int After;
function Test() { After = Befor; }
