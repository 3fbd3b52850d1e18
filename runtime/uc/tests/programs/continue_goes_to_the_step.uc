// expect: Test = 25
class Program extends Object;

function int Test() {
    local int i, s;
    for (i = 0; i < 10; i++) { if (i % 2 == 0) continue; s += i; }
    return s;
}
