// expect: Test = 14
class Program extends Object;

function int Test() {
    return 2 + 3 * 4;
}
