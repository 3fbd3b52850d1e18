class Program extends Actor;

enum EColor { COLOR_Red, COLOR_Blue };
struct Node { var array<Node> Children; };
var int L1[ArrayCount(L2)];
var int L2[-ArrayCount(L1)];
var Component Part;
delegate OnHit(int X);
var delegate<OnHit> Bound;

static final operator(22) int dot2 (int L, int R) { return L; }

static function Hit(int X) { }
function Rotator Pawn(Object O, int Z) { return Rotation; }
function Rotator Component(int X) { return Rotation; }
function F(int X = 3) { }
function G(out private int Y) { }

function H()
{
    const Own = 5;
    const Own = 6;
    local int I;
    local name N;
    local string S;
    local Pawn P;

    I = I dot2 3;
    I = I dot3 3;
    I = I dot3 4;
    I = #I;
    I = I # 3;
    Part = Component(Part);
    N = nameof(Nothing);
    P = Pawn(self);
    I = sizeof(Node);
    Own = 7;
    OnHit = class'Program'.static.Hit;
    S = "a\x41";
    switch (I)
    {
        `log("x");
        case 1:
            `log("y");
        `if(`debug)
        case Own:
        `endif
            break;
    }
    GotoState('Idle');
    P.GotoState('Idle');
    if (IsInState('Idle'))
        Sleep(0.1);
    P = Pawn(DynamicLoadObject("Pkg.Name", class'Pawn'));
    foo bar baz;
}

cppstruct { int x; }

defaultproperties
{
    Label=unquoted
    Bound=class'Program'.static.Hit
}
