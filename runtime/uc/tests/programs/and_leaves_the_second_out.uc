// expect: Test = 1
class Program extends Object;

var int Calls;
function bool Count(bool b) { Calls++; return b; }
function int Test() { if (Count(false) && Count(true)) return -1; return Calls; }
