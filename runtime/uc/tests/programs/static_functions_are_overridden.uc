// expect: TestByClass = base child grandchild
// expect: TestByObject = grandchild: grandchild/3 child/2
// expect: TestByStatic = base=1 child=2 child=2 grandchild=3
// expect: TestBySuper = child+base
// expect: TestByName = base
// expect: TestDeep = base1 base1 grandchild3
class Program extends Object;

function string TestByClass()
{
    return class'Base'.static.Label() @ class'Child'.static.Label() @ class'Grandchild'.static.Label();
}

function string TestByObject()
{
    local Base B;
    local string S;

    B = new class'Grandchild';
    S = B.static.Label() $ ":" @ B.Shown();
    B = new class'Child';
    return S @ B.Shown();
}

function string TestByStatic()
{
    local class<Base> C;
    local string S;

    C = class'Base';
    S = C.static.Whole();
    C = class'Child';
    S @= C.static.Whole();
    C = class'Grandchild';
    return S @ class'Child'.static.Whole() @ C.static.Whole();
}

function string TestBySuper() { return class'Child'.static.Both(); }
function string TestByName() { local class<Base> C; return C == none ? class'Base'.static.Label() : ""; }
function string TestDeep() { return class'Child'.static.Deep() @ class'Base'.static.Deep() @ class'Grandchild'.static.Deep(); }
// file: Base.uc
class Base extends Object;

var int Number;

static function string Label() { return "base"; }
static function string Whole() { return Label() $ "=" $ default.Number; }
static function string Both() { return "base"; }
static function string Deep() { return Label() $ default.Number; }
final static function int Fixed() { return 1; }
function string Shown() { return Label() $ "/" $ default.Number; }

defaultproperties { Number=1 }
// file: Child.uc
class Child extends Base;

static function string label() { return "child"; }
static function string Both() { return Label() $ "+" $ super.Both(); }

static function string Deep() { return super.Deep(); }

defaultproperties { Number=2 }
// file: Grandchild.uc
class Grandchild extends Child;

static simulated function string Label() { return "grandchild"; }

static function string Deep() { return static.Label() $ static.Count(); }
static function int Count() { return default.Number; }

defaultproperties { Number=3 }
