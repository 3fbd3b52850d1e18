class Program extends Object implements(Holds, Test.Opens, Twice, 5);

var Holds H;
static function int Hold(int What) { return 1; }
function Open(int Far) { H = self; H.Hold(3); H.Missing(); Opens(H).Shut(); H.Gone(1); }
function Shut();
// file: Holds.uc
interface Holds extends Interface native(Hold) config(Game);

var int Count;
const Most = 5;
delegate OnHold();
struct Grip { var int Force; var delegate<OnMissing> When; };
enum EGrip { GRIP_Loose, GRIP_Firm };

native function int Hold(int What);
static final function Fixed();
function bool Body(Grip G) { return true; }
function bool Hold(int Again);
function Value(optional int By = 3);
private event Gone(Missing M);
latent function Waits();
state Idle { }
defaultproperties { Count=1 }
// file: Opens.uc
interface Opens extends Shuts;
function Open(float Far);
function Shut();
// file: Shuts.uc
interface Shuts extends Object;
function shut();
// file: Twice.uc
interface Twice extends Thrice;
function A();
// file: Thrice.uc
interface Thrice extends Twice;
function B();
// file: Odd.uc
interface Odd extends Program;
// file: Odder.uc
class Odder extends Opens;
// file: Oddest.uc
interface Oddest extends Nowhere abstract foo;
// file: Sings.uc
interface Sings;
function Song();
// file: Actor2.uc
class Actor2 extends Actor implements(Sings);
// file: Speller.uc
class Speller extends Below implements(Spelled);
function RUN() {}
// file: Below.uc
class Below extends Actor;
function speak() {}
// file: Spelled.uc
interface Spelled;
function Speak();
function Run();
function float GetDistance(Actor Other);
