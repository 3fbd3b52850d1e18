// expect: Test = 7
class Program extends Object;

function int Test() {
    local int i, s;
    for (i = 0; i < 5; i++) { switch (i) { case 3: continue; } s += i; }
    return s;
}
