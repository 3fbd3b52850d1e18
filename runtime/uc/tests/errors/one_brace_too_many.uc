class Program extends Actor;

function One() {
    Health = 3;
}
}
function Two() {
    Health = Missing;
}
