class Program extends Actor;

var wrong int A;
struct odd S { var int A; };
wrong function F() {}
function final G() {}
multicast function H() {}
// file: Other.uc
class Other extends Object strange config(X) odd(Y);
