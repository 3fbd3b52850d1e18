class Program extends Actor;

function Take(int a, int b, optional int c) {}
function Test() {
    GetDistance();
    GetDistance(self, 5);
    GetDistance(5);
    Take(1,, 3);
    Take(1);
    Health();
    Location();
    label.Left(3);
    NotForScripts();
    Owner.NotForScripts();
    Clamp(1, 2);
    Test = 5;
    Spawn(class'Pawn');
    SetTimer(1.0, true);
}
