class Program extends Actor;

function Test() {
    5 = Health;
    self = none;
    GetDistance(self) = 5;
    Location + Location = Location;
    default.Health = 5;
    class'Actor'.default.Health = 5;
    Health = Label = "x";
    scores['a'] += 1;
    Health = (Label = "x");
}
