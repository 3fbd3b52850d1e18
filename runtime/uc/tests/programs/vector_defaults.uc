// expect: Test = 1.00,-2.50,3.00
class Program extends Object;

var vector V;
function vector Test() { return V; }
defaultproperties { V=(X=1,Y=-2.5,Z=3.0) }
