// expect: Test = 9
class Program extends Object;

function int Test() {
    local int i, j, s;
    for (i = 0; i < 3; i++) for (j = 0; j < 10; j++) { if (j == 3) break; s++; }
    return s;
}
