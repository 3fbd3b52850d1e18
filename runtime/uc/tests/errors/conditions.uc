class Program extends Actor;

function Test() {
    local int i; local string s; local name n;
    if (i) return;
    while (Owner) i++;
    if (s) i++;
    if (n) i++;
    if (i = 5) i++;
    do { i++; } until (label);
    for (i = 0; i; i++) i++;
    i = !i ? 1 : 2;
}
