// expect: Test = 25
class Program extends Object;

function int Test() {
    local array<bool> gone; local int i, j, count;
    gone.Length = 101;
    for (i = 2; i <= 100; i++) { if (gone[i]) continue; count++; for (j = i * i; j <= 100; j += i) gone[j] = true; }
    return count;
}
