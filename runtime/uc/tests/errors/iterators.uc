class Program extends Actor;

function Test() {
    local Actor A; local array<int> l; local int i; local string s;
    foreach AllActors(class'Actor', A) { A.Destroy(); }
    foreach Owner.ChildActors(class'Actor', A) break;
    foreach l(s) i++;
    foreach Health(i) i++;
    foreach l() i++;
    foreach l(5) i++;
    foreach l(i, s) i++;
    foreach scores(i) i++;
    foreach l;
}
