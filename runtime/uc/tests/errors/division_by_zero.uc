class Program extends Actor;

function int Test() { local float f; f = 1 / 0.0; Health /= 0; return Health / 0 + 5 % 0 + nothing; }
