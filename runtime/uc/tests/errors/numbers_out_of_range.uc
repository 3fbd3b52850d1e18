class Program extends Actor;

const BIG = 5000000000; var float RealOne; var double RealTwo;
function Test() { local int i; local u64 u; local i16 s; i = BIG; u = 5; i = u; u = -1; s = 40000; s = 0xFFFF; small = 70000; i = 5000000000.5; }
function TestDoubles() { local double d; d = 1e308; d = 1e400; d = -1e400; }
defaultproperties
{
    RealOne=-1e60
    RealTwo=1e400
}
