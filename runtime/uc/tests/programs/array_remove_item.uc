// expect: Test = 2
class Program extends Object;

function int Test() { local array<string> a; a.AddItem("x"); a.AddItem("y"); a.AddItem("x"); return a.RemoveItem("x"); }
