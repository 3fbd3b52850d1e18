// expect: Test = aTrue
class Program extends Object;

function string Test() {
    return "a" $ 1 == 1;
}
