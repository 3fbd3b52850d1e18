class Program extends Actor;

dllimport final function A();
dllimport function B();
dllimport final function C() { }
bool8 final function bool D() { return true; }
no_cwd final function E() { }
// file: Bound.uc
class Bound extends Object DLLBind(../Lib);
dllimport function A();
// file: Twice.uc
class Twice extends Object DLLBind(Lib.so) DLLBind(One);
dllimport bool8 final function bool A();
dllimport bool32 final function bool B();
dllimport bool8 bool32 final function bool C();
dllimport bool8 final function int D();
dllimport final function E(optional int I = 2 * 3, optional class<Object> K = class'Twice', optional vector V = vect(1, 2, 3));
