// expect: Test = -1
class Program extends Object;

function int Test() {
    return -7 % 3;
}
