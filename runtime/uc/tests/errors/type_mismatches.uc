class Program extends Actor;

function Take(int i, string s, Pawn p) {}
function Test() {
    local string s; local int i; local Pawn p; local Actor a; local bool b; local name n; local vector v; local class<Pawn> c; local class<Actor> d;
    s = 5;
    i = "five";
    p = a;
    b = i;
    n = "name";
    v = 3.0;
    c = d;
    Take("x", 5, self);
    i = p;
    a = d;
}
