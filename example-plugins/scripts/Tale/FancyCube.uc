/**
 * A magic cube that counts its greetings, and rotates faster after each.
 */
class FancyCube extends MagicCube;

var int Hellos;
/** Increase of the rotation speed per greeting, in degrees per second. */
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
