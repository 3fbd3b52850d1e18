class Program extends Actor;
function Test() { Mine = 5; Mine = Health; Mine = label; }

// file: Actor.uc
class Actor extends Engine.Actor;
var int Mine;
