// compile-only
class Attack extends Actor;

var Object Obj; var array<Object> Objs; var Actor A; var Pawn P;
function array<Actor> Near() { local array<Actor> r; return r; }
function Test(optional out int Got, optional Actor Who = self, coerce optional string Why)
{
    local Actor B, C; local int i, j; local float f; local string s; local bool bYes, bNo; local byte by; local vector v; local rotator r;
    Objs.AddItem(P); Objs[0] = none; Obj = A; A = Actor(Obj); P = Pawn(Objs[i]);
    bYes = bYes == bNo; bYes = !bNo && i > 3 || f < 2 ^^ true;
    f = i; i = f; by = i; i = by; f = by; s = string(f); f = i / j; f = float(i) / j;
    f = -f; f = - -f; i = -i + - -j; bYes = !!bNo;
    i = i + 1 - 2 * 3 / 4 % 5 << 1 >> 1 >>> 1 & 7 | 8 ^ 1;
    s = "a" $ i + 1 $ "b" @ f * 2 @ bYes $ v $ r $ A $ P.Class $ Phase $ tag $ none;
    v = -v * 2 + v / f - vect(1,2,3) * v; v += 2 * v; v *= 2; v = v cross v; f = v dot v; f = v.x * v.Y;
    r = r + r; r *= 2; r.Yaw += 5; v = vector(r); r = rotator(v); v = v >> r;
    if (A != none && A.Health > 0 && Pawn(A) != none && Pawn(A).Controller != none) A.Health--;
    B = A == C ? A : P; C = bYes ? none : A;
    foreach Near()(B) i++;
    for (i = 0; i < Near().Length; i++) Near()[i].Health = 5;
    Test(); Test(i); Test(i, A); Test(, A); Test(, , "x"); Test(i, , 5.5); Test(, , A);
    switch (i) { case 0: case 1: i++; break; case -1: { i = 2; break; } default: }
    do i++; until (i > 5);
    do { i--; } while (i > 0);
    while (true) break;
    if (bYes) { } else if (bNo) i = 1; else { i = 2; }
    { local int k; k = 1; }
    A.Destroy(); self.A.Owner.Owner = self; A = A.Owner.Owner.Owner;
    Health = Health; Health *= 1.5; Health += 2.7; f += i; by += 5; by *= 2;
    Got = 3; Who = none; Why = "";
    return;
}
