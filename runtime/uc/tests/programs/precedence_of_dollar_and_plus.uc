// expect: Test = 12
class Program extends Object;

function string Test() { return "1" $ 1 + 1; }
