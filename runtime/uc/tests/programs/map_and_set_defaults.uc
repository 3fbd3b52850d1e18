// expect: TestMap = 2: 1 2 0
// expect: TestSet = 3 True False
// expect: TestBelow = 1: 7 0
// expect: TestStruct = 5 True
// expect: TestEmpty = 0 0
class Program extends Stock;

enum EKind { KIND_One, KIND_Two, KIND_Three };
struct Shelf { var map<name, int> Books; var set<int> Marks; };

var map<EKind, int> ByKind;
var set<int> Seen;
var Shelf S;
var map<name, array<int> > Rows;
var set<string> Nobody;

function string TestMap() { return Known.Length $ ":" @ Known["a"] @ Known["b"] @ Known["c"]; }
function string TestSet() { return Seen.Length @ Seen.Contains(3) @ Seen.Contains(4); }
function string TestBelow() { local Stock P; P = new class'Below'; return P.Known.Length $ ":" @ P.Known["z"] @ P.Known["a"]; }
function string TestStruct() { return S.Books['X'] + ByKind[KIND_Two] @ S.Marks.Contains(8); }
function string TestEmpty() { return Rows.Length @ Nobody.Length; }

defaultproperties
{
    ByKind=((KIND_Two,4),
        (KIND_One,0))
    Seen=(1,2,3)
    S=(Books=((X,1)),Marks=(8))
    Rows=((A,(1,2)))
    Rows=
    Nobody=()
}
// file: Stock.uc
class Stock extends Object;

const KEY = "b";

var map<string, int> Known;

defaultproperties { Known=(("a",1),(KEY,2)) }
// file: Below.uc
class Below extends Stock;

defaultproperties { Known=(("z",7)) }
