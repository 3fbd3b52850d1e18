class Program extends Actor;

function One() {
    if (Health > 5) {
        Health = 3;

function Two() {
    Health = 4;
}
