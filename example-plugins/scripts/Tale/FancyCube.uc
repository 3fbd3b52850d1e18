/**
 * A magic cube that counts how often it says hello, and turns faster each time.
 */
class FancyCube extends MagicCube;

var int Hellos;
/** How much faster it turns after each hello, in degrees a second. */
var() double Excitement;

event SayHello()
{
    Hellos++;
    RotationSpeed += Excitement;
    super.SayHello();
}

defaultproperties
{
    Excitement=15.0
    Label="A cube with a script"
}
