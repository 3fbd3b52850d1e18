class Program extends Actor;

function A(int i = 5) {}
function B(optional int i = "x", optional Missing m) {}
function C(skip int i) {}
function Test() { A(); B(1, 2, 3); }
