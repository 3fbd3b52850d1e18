class Program extends Actor;

delegate OnA(int i);
delegate OnB(out int i);
var delegate<OnA> D;
function One(int i) {}
function Two(string s) {}
static function Three(int i) {}
function Test() {
    OnA = One; OnA = Two; OnA = Three; OnA = 5; OnA = Missing; D = OnA; OnA("x"); D();
    on_touch = One; on_touch.Add(Two); on_touch.Foo(); on_ask = One; One = OnA;
    on_touch = Touched;
}
function Touched(Actor Other) {}
defaultproperties { on_touch=Touched }
