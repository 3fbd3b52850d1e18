class Program extends NoSuchBase;

var Missing A, B;
var array<Missing> C;
function int Value(Missing m) { return Whatever(m) + Health + UnknownThing; }
function Test() { Value(A); A.Foo(); super.Test(); Undeclared = 5; }
defaultproperties { Anything=5 }
