// expect: TestSame = True
// expect: TestCast = True
// expect: TestNone = False
class Program extends Object;

function bool TestSame() { local class<Object> c; c = class'Program'; return c == self.Class; }
function bool TestCast() { local class<Object> c; c = class'Program'; return class<Program>(c) != none; }
function bool TestNone() { local class<Object> c; c = class'Other'; return class<Program>(c) != none; }
// file: Other.uc
class Other extends Object;
