// expect: Test = 1
class Program extends Object;

function int Test() { local int i; do { i++; } until (true); return i; }
