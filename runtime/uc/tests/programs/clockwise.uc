// expect: Test = True
// expect: TestOther = False
class Program extends Object;

function bool Test() { return 100 ClockwiseFrom 50; }
function bool TestOther() { return 50 ClockwiseFrom 100; }
