class Program extends Actor;

function int Order(int a, string b) { return 0; }
function Test() {
    local array<int> l; local array<Color> c; local int f[3];
    l.Add();
    l.AddItem("x");
    l.Foo(3);
    l.Length = "x";
    f.Length = 3;
    f[3] = 1;
    f[-1] = 1;
    f.AddItem(3);
    l.Find('x', 3);
    c.Find('q', 3);
    c.Sort(Order);
    l.Sort(Order);
    scores["x"] = 3;
    scores.Set('a', "b");
    marks.Add('x');
    Health[0] = 1;
    tag.Add(5);
    Health = ArrayCount(l);
    l.Length++;
    l.Length += 2;
}
