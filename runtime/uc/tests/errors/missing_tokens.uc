class Program extends Actor;

var int A
var int B;
function Test( { A = 1; }
function Other() {
    A = 5
    B = 6;
    if A == 5) B = 1;
    while (A > 5 A--;
    for (A = 0; A < 5, A++) B++;
    A = (5 + 3;
    B = 7;
    int C = 1;
}
function Third() {
    Pawn P;
    for (int I = 0; I < 3; I++) B = 2;
    for (local int I = 0; I < 3; I++) { B = 2; }
}
var int D = 3;
