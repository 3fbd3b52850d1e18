class Program extends Actor;

function Test() {
    Health += 1 $ "x";
    Health = 1 ? 2 : 3;
    Health = true ? "x" : 3;
    Health = true ? 2;
}
