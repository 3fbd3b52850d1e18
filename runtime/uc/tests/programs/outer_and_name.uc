// compile-only
class Program extends Actor within Pawn;

var name Other;

function Test()
{
    local name N;
    local Object O;
    local Pawn P;

    N = Name;
    N = Owner.Name;
    O = Owner.Outer;
    P = Outer;
    P = self.Outer;
    Outer.Jump();
    O = Outer.Outer;
    if (Name == 'x' && Outer != none && O.Name != N) Label = "in" @ Outer.Name;
}
