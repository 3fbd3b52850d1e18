class Program extends Actor;

var int I; var string S; var bool B; var vector V; var array<int> L; var int F[2]; var class<Pawn> K; var Component C; var name N; var byte Y; var delegate<OnX> D; var Object O;
delegate OnX();
function Bad(int i) {}
defaultproperties
{
    I="x"
    S=text
    B=maybe
    V=(X=1,W=2)
    V=5
    L="x"
    L(0)="x"
    L.Push(5)
    F(2)=1
    I(1)=5
    K=class'Component'
    K=Pawn
    C=Missing
    Y=300
    I=99999999999
    D=Bad
    D=Missing
    Nothing=5
    Healt=3
    I 5
    N='ok'
    phase=PHASE_Ovr
    Begin Object Class=Missing Name=A
    End Object
    Begin Object Name=B
    End Object
    Begin Object Class=Component Name=Health
    End Object
    Begin Object Class=Component
    End Object
    Begin Object Class=Component Name=Good
        Size="x"
        Sise=3
    End Object
    Owner=Good
    O=class'Program'
}
// file: Secret.uc
class Secret extends Actor;
defaultproperties { secret=5 }
// file: Twice.uc
class Twice extends Actor;
defaultproperties
{
    Begin Object Class=Component Name=Part
    End Object
    Begin Object Class=Component Name=Part
    End Object
}
// file: Again.uc
class Again extends Twice;
defaultproperties
{
    Begin Object Class=Component Name=part
    End Object
    Begin Object Name=Part
    End Object
}
// file: Below.uc
class Below extends Twice;
var Component Part;
// file: Beneath.uc
class Beneath extends Again;
function part() {}
