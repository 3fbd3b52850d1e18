// compile-only
class Program extends Actor;

function Test() {
    local vector v; local rotator r;
    v = vect(1,0,0) >> Rotation; v = v << Rotation; r = rotator(v); v = vector(r); v = vector(Rotation) * 3.0; r *= 2; r = r * 0.5; v = Normal(v * v);
    if (v dot v > 0 && VSize(v) ~= 1.0) v = v cross vect(0,0,1);
}
