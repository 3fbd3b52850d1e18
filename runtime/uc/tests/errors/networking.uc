class Program extends Actor;

replication { reliable if (Role == 4) A; }
var int A;
reliable server function Call() {}
unreliable client simulated function Other() { A = Nope; }
