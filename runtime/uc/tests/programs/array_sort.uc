// expect: Test = 1 2 3 5
// expect: TestByDelegate = 123 321
class Program extends Object;

function int Order(int a, int b) { return a > b ? -1 : 0; }
function string Test() {
    local array<int> a; local int i; local string s;
    a.AddItem(3); a.AddItem(5); a.AddItem(1); a.AddItem(2);
    a.Sort(Order);
    s = string(a[0]);
    for (i = 1; i < a.Length; i++) s @= a[i];
    return s;
}
delegate int Compare(int a, int b) { return b - a; }
function int Backwards(int a, int b) { return a - b; }
function string TestByDelegate() {
    local array<int> a; local string s;
    a.AddItem(2); a.AddItem(3); a.AddItem(1);
    a.Sort(Compare);
    s = a[0] $ a[1] $ a[2];
    Compare = Backwards;
    a.Sort(Compare);
    return s @ a[0] $ a[1] $ a[2];
}
