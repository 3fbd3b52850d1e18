// expect: Test = 4
class Program extends Object;

var int Value;
function Set() { Value = 4; }
function Call() { return Set(); }
function int Test() { Call(); return Value; }
