// expect: TestBound = 10 1
// expect: TestBody = -1 1
class Program extends Object;

var int Calls;
delegate int OnAsk(int I) { return -1; }
function int Double(int I) { return I * 2; }
function Program Next() { Calls++; return self; }
function string TestBound() { Calls = 0; OnAsk = Double; return Next().OnAsk(5) @ Calls; }
function string TestBody() { Calls = 0; OnAsk = none; return Next().OnAsk(5) @ Calls; }
