// expect: TestNone = -1
// expect: TestBound = 10
// expect: TestBody = 1
class Program extends Object;

delegate int OnAsk(int i) { return -1; }
delegate int OnOther(int i);
function int Double(int i) { return i * 2; }
function int TestNone() { OnAsk = none; return OnAsk(5); }
function int TestBound() { OnAsk = Double; return OnAsk(5); }
function int TestBody() { OnOther = none; return OnOther(1) + 1; }
