class Attack extends Actor;

var Attack Other; var array<Attack> All; var int I; var string S; var class<Attack> K; var name N; var map<int,string> M;
struct P { var int A; var array<int> R; var Attack O; };
var P Q[3];
function array<P> Get() { local array<P> r; return r; }
function P One() { local P p; return p; }
function Out(out int x) {}
function OutP(out P x) {}
function Test()
{
    One().A = 5;
    Get()[0].A = 5;
    One().O.I = 5;
    Get()[0].O.Other.I++;
    Out(One().A);
    Out(One().O.I);
    Out(Other.Q[1].A);
    Out(All[2].Q[I].R[3]);
    Out(5);
    Out(I + 1);
    OutP(Q[0]);
    All[I++].I += 2;
    Other.All[Other.I].Other.S $= "x" @ I @ none;
    K.default.I = 5;
    I = K.default.I + class'Attack'.default.Q[1].A;
    new(self) K;
    (new class'Attack').I = 5;
    I = (I == 5) ? 1 : 0;
    if (Other == none || Other.Other == self) return;
    M[5] = "x";
    S = M[I] $ M[7];
    M[5].Length = 3;
    Q = Q;
    I = S;
    self.Test();
    Attack(Owner).Test();
    Attack(Owner) = none;
    Test().Foo;
    Other.Test().I = 3;
    I = Test();
    default.Test();
    super(Object).Test();
    N = 'a' $ 'b';
    S = 'a' $ 'b';
    Other++;
    ++I;
    I++ ++;
    -I;
    for (I = 0, S = ""; I < 5; I++, S $= "x") {}
    switch (self) { case none: break; case Other: break; }
    switch (Location) { case vect(0,0,0): break; }
    return Test();
}
