class Program extends Actor;

static function int Value() { Health = 5; Test(); self.Health = 3; return default.Health + GetDistance(none); }
function Test() { class'Program'.static.Test(); Value(); static.Test(); }
