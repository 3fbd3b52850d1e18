// expect: Test = 1.0000
class Program extends Object;

function float Test() {
    return true ? 1 : 2.5;
}
