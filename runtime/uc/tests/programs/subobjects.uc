// compile-only
class Program extends Actor;

var Component Part, Other; var array<Component> All;
defaultproperties
{
    Begin Object Class=Component Name=Foot
        Size=3.5
    End Object
    Part=Foot
    Other=Component'Foot'
    All.Add(Foot)
    All(1)=None
    Health=100
    Label="program"
    Location=(X=1.0,Y=2.0,Z=3.0)
    Phase=PHASE_Running
    Tags=(one, two)
    Kind=class'Engine.Pawn'
    Owner=Actor'Level.Somebody'
}
