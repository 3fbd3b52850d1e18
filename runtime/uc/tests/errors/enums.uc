class Program extends Actor;

enum EOne { A_One, A_Two };
enum ETwo { B_One, A_One };
enum ENone { };
function Test() {
    local EOne a; local ETwo b;
    a = A_One; a = B_One; a = 1; b = a; a = EOne.Nope; Health = A_One; Health = ENope.X;
    if (a == b) a = EOne(1);
    a++;
}
