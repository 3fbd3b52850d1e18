class Program extends Actor;

static final operator(20) vector * (vector A, int B) { return A; }
static final preoperator bool ! (int A) { return A == 0; }
static final postoperator int ++ (out int A) { return A; }
function Test() { Health = Missing; }
