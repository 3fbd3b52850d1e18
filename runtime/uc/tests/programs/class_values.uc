// expect: TestSame = True
// expect: TestCast = True
// expect: TestNone = False
// expect: TestName = Program Other None True
class Program extends Object;

function bool TestSame() { local class<Object> c; c = class'Program'; return c == self.Class; }
function bool TestCast() { local class<Object> c; c = class'Program'; return class<Program>(c) != none; }
function bool TestNone() { local class<Object> c; c = class'Other'; return class<Program>(c) != none; }
function string TestName() { local class<Object> c; local Object o; o = new class'Other'; return Class.Name @ o.Class.Name @ c.Name @ (class'Other'.Name == 'Other'); }
// file: Other.uc
class Other extends Object;
