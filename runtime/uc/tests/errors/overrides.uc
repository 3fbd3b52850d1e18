class Program extends Base;

function ReceiveTick(int DeltaSeconds) {}
function GetDistance(Actor Other) {}
function float ReceiveBeginPlay() {}
function Same(string s) {}
function Last() {}
static function Plain() {}
function int Result() { return 1; }
function OnCall() {}
// file: Base.uc
class Base extends Actor;
function Same(int i) {}
final function Last() {}
function Plain() {}
function string Result() { return ""; }
delegate OnCall();
// file: Below.uc
class Below extends Base2;
function Own() {}
static function Plain() {}
function Count() {}
var int Helper;
function Other() {}
// file: Base2.uc
class Base2 extends Actor;
private function Own() {}
static function Plain() {}
var int Count;
function Helper() {}
