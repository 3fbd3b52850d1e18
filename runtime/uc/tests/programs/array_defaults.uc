// expect: Test = 3
// expect: TestSum = 12
// expect: TestText = b
class Program extends Object;

var array<int> Values; var string Words[2]; var array<string> More;
function int Test() { return Values.Length; }
function int TestSum() { local int i, s; foreach Values(i) s += i; return s; }
function string TestText() { return Words[1]; }
defaultproperties
{
    Values(0)=3
    Values(1)=4
    Values(2)=5
    Words[0]="a"
    Words(1)="b"
    More=("x", "y")
}
