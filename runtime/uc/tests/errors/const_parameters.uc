class Program extends Actor;

struct Part { var int X; };
function A(const int x, const array<int> list, const Part p, const out int y)
{
    local int i;
    x = 3;
    x++;
    x += i;
    list.AddItem(3);
    list.Length = 2;
    list[0] = 1;
    array_add(list, 3);
    p.X = 1;
    y = 4;
    B(y);
    foreach tags(tag) {}
    foreach list(x) {}
    C(y, x, i);
    E(x);
    // Passes on and reads parameters that neither function changes.
    D(x, p.X, list[0]);
    i = x + list.Find(2) + p.X + y;
}
function B(out int z) {}
function C(const int v, const out int w, out int z) {}
function E(const out float w) {}
function D(const out int v, const out int w, const out int z) {}
