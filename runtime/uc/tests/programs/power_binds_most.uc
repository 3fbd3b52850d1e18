// expect: Test = 18.0000
class Program extends Object;

function float Test() {
    return 2 * 3 ** 2;
}
