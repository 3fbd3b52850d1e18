// expect: Test = 3
class Program extends Object;

function Half(out float f) { f = f / 2; }
function int Test() { local int i; i = 7; Half(i); return i; }
