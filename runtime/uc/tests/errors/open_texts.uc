class Program extends Actor;

function Test() {
    Label = "open;
    tag = 'open;
    Label = "ok";
    Label = "bad \q escape";
    Health = 12abc;
}
