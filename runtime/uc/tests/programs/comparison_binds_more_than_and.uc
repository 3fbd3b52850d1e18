// expect: Test = True
class Program extends Object;

function bool Test() {
    return 1 < 2 && 3 >= 3 || false;
}
