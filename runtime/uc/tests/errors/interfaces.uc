class Program extends Actor implements(Sings);

var Sings S;
function Test() { S = self; S.Sing(); S.Dance(); S.Label = "x"; S = Owner; }
function int Sing(int i) { return i; }
// file: Other.uc
class Other extends Actor implements(Sings, Missing, Actor);
