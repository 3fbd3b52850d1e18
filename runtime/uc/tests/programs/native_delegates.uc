// compile-only
class Program extends Actor;

function Touched(Actor Other) {}
function bool Asked(int i) { return i > 3; }
function Test() { on_touch.Add(Touched); on_touch.Broadcast(self); OnTouch(self); on_touch.Remove(Touched); on_touch.Clear(); on_ask = Asked; if (on_ask(5)) on_ask = none; }
