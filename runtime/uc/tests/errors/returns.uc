class Program extends Actor;

function int A() { return; }
function B() { return 5; }
function int C() { return "x"; }
function int D(bool b) { if (b) return 1; }
function bool E() { while (true) { } }
