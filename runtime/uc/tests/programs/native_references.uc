// compile-only
class Program extends Actor;

function Test() {
    target = self; if (target != none) target.Health = 3; owner = target; kind = class'Pawn'; if (kind == class'Pawn') kind = none;
}
