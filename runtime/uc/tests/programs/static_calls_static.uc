// expect: Test = 12
class Program extends Object;

static function int Twice(int i) { return 2 * i; }
static function int Four(int i) { return static.Twice(i) + Twice(i); }
function int Test() { return Four(3); }
