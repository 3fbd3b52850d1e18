// expect: Test = -3
class Program extends Object;

function int Test() {
    return -7 / 2;
}
