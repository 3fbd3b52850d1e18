class Program extends Actor;

function A(optional int x, int y) {}
function B(int x, optional int y, optional out int z) {}
event C(optional int x, out int y, int z, optional int w) {}
delegate D(optional int x, int y);
