class Program extends Actor within Pawn config(Game);

var config int A;
var globalconfig int B;
var localized string C;
function Test() { Outer.Foo(); SaveConfig(); }
