// expect: Test = 11
class Program extends Object;

delegate int Op(int i);
function int Inc(int i) { return i + 1; }
function int Twice(int i) { return 2 * i; }
function int Test() { local array<delegate<Op> > ops; ops.AddItem(Twice); ops.AddItem(Inc); return ops[1](ops[0](5)); }
