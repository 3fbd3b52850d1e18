class Program extends Actor;

function Test() {}
/* this /* does */ not end
var int A;
