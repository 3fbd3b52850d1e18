// expect: Test = 6
class Program extends Object;

function int Test() {
    local Node first, n; local int i, s;
    for (i = 1; i <= 3; i++) { n = new class'Node'; n.Value = i; n.Next = first; first = n; }
    for (n = first; n != none; n = n.Next) s += n.Value;
    return s;
}
// file: Node.uc
class Node extends Object;
var Node Next;
var int Value;
