// compile-only
class Program extends Actor;

var Object Image; var class<Pawn> PawnClass;
function Test() { local Pawn p; Image = Component'Pkg.Group.Thing'; PawnClass = class'Engine.Pawn'; p = Pawn(Owner); if (p != none && p.Jump()) p.Speed *= 2; if (PawnClass.default.Speed > 3) p = new(self) PawnClass; p = new(self, "Name") class'Pawn'(p); }
