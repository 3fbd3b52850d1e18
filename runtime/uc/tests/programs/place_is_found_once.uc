// expect: Test = 1
class Program extends Object;

var int Calls;
function int At() { Calls++; return 0; }
function int Test() { local int a[2]; a[At()] += 5; return Calls; }
