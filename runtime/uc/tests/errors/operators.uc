class Program extends Actor;

function Test() {
    local bool b; local name n; local string s; local vector v; local rotator r; local Actor a; local array<int> l;
    s = "a" + "b";
    b = b + 1;
    n = n $ "x";
    b = n == "text";
    v = v + r;
    v = v % 2;
    b = a < a;
    b = a + 1;
    b = v && true;
    l = l + l;
    mask = mask + health;
    b = s == 5;
    b = 1.5 << 2 == 3;
    v += 1;
    a++;
    s--;
    if (health & 4 != 0) a = none;
}
