class Program extends Actor;

private protected function A() {}
private private function B() {}
var private protected int X;
var public private int Y;
var protected protectedwrite int Z;
