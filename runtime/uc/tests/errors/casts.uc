class Program extends Actor;

function Test() {
    local Component c; local Pawn p; local class<Component> k;
    p = Pawn(c);
    c = Component(self);
    p = Pawn(5);
    Health = int(self);
    tag = name(5);
    Location = vector("x", "y");
    k = class<Component>(kind);
    p = Pawn();
    phase = Phase(Label);
    Location = vector(5);
}
