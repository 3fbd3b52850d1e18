// expect: Test = 8
class Program extends Object;

function int Test() {
    return 1 << 2 + 1;
}
