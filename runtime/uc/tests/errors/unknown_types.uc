class Program extends Actor;

var Wepon A;
var array<Thing> B;
var class<Pwan> C;
function Other D() { local Thing t; t.X = 5; return none; }
