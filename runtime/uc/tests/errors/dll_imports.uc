class Program extends Actor;

dllimport final function A();
dllimport function B();
dllimport final function C() { }
// file: Bound.uc
class Bound extends Object DLLBind(../Lib);
dllimport function A();
