// expect: Test = True
// expect: TestOther = False
// expect: TestFull = True
class Program extends Object;

function bool Test() { return 32768 ClockwiseFrom 0; }
function bool TestOther() { return 0 ClockwiseFrom 32768; }
function bool TestFull() { return 98304 ClockwiseFrom 65536; }
