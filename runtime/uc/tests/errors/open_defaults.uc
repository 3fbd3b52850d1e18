class Program extends Actor;

defaultproperties
{
    Health=5
    Begin Object Class=Component Name=A
        Size=3
