class Program extends Actor;

function Test() {
    Health;
    Health == 5;
    5;
    "text";
    self;
    Health + 1;
    Location.X;
    Scores.Keys();
    Maybe.IsSet();
    on_ask != none;
}
