class Program extends Actor;

function Test() {
    local byte b; local float f;
    b = 300;
    Health = 99999999999;
    Health = 99999999999999999999999;
    f = 1e60;
    b = -1;
    Location = vect(1, 2);
    Location = vect(Health, 2, 3);
    Rotation = rot(1, "x", 3);
    Location = rng(1, 2);
    kind = class'Missing';
    Owner = Texture'Pkg.Name';
    kind = class'Component';
    Owner = Component'X';
}
