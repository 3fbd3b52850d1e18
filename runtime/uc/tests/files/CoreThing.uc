//=============================================================================
// CoreThing: in the manner of the classes that declare operators and natives.
//=============================================================================
class CoreThing
	native
	noexport;

// Flags and constants.
const RF_Transactional	= 0x00000001; // Supports editor undo/redo.
const RF_Public         = 0x00000004;
const MaxInt2			= 0x7fffffff;
const Pi2				= 3.1415926535897932;
const DegToRad			= 0.017453292519943296;
const INDEX2			= -1;

var native private const pointer ObjectInternal[6];
var native const object OuterThing;
var(Object) native const editconst noexport name ThingName;
var native noexport private const int HashNext;
var native private const qword ObjectFlags;

struct immutable Two
{
	var() config float X, Y;
};
struct immutable native Four extends Two { var() float Z, W; };
struct pointer2 { var native const int Dummy; };
struct transient TPOV
{
	var() Two Location;
	var() float FOV;
	structdefaultproperties { FOV=90.0f }
};
struct native atomic Bits { var bool A, B; var byte C; };

enum EAlign
{
	AL_Left,AL_Center
	,AL_Right
};
enum EEmpty { };

native(129) static final preoperator  bool  !  ( bool A );
native(242) static final operator(24) bool  == ( bool A, bool B );
native(243) static final operator(26) bool  != ( bool A, bool B );
native(130) static final operator(30) bool  && ( bool A, skip bool B );
native(133) static final operator(34) byte *= ( out byte A, byte B );
native(139) static final postoperator byte ++ ( out byte A );
native(143) static final preoperator  int  -  ( int A );
native(150) static final operator(24) bool <  ( int A, int B );
native(149) static final operator(22) int  >> ( int A, int B );
native(196) static final operator(22) int  >>>( int A, int B );
native(210) static final operator(24) bool ~= ( float A, float B );
native(219) static final operator(16) float Dot ( Four A, Four B );
native(220) static final operator(16) Four  Cross ( Four A, Four B );
native(112) static final operator(40) string $  ( coerce string A, coerce string B );
native(322) static final operator(44) string $= ( out	string A, coerce string B );
native static final operator(45) string -= ( out string A, coerce string B );
native(275) static final operator(22) Four << ( Four A, Two B );
static final operator(20) int MyAnd ( int A, skip int B ) { return A; }
static final operator(18) array<int> + ( array<int> A, int B ) { return A; }

native(167) static final Function     int    Rand  ( int Max );
native(244) static final function float  FMin  ( float A, float B );
native(238) static final function string Repl(coerce string Src, coerce string Match, coerce string With, optional bool bCaseSensitive);
native static final function Name GetEnum2(object E, coerce int i);
native(118) final function Enable( name ProbeFunc );
native(113) final function GotoState( optional name NewState, optional name Label, optional bool bForceEvents, optional bool bKeepStack );
native(256) final latent function Sleep( float Seconds );
native final latent function bool MoveTo2(vector V, optional Actor F) ;
native(304) final iterator function AllActors2 ( class<actor> BaseClass, out actor Actor, optional class<Interface> InterfaceClass );
native static final preoperator vector2d - (vector2d A);
native final static function int Find<T>(array<T> A);
private native function Hidden2();
protected native final event bool Shown();

static final function int Twice( int I ) { return I * 2; }
final function UseMine() { local int A; A = A MyAnd 3; A = -A; }
function UseSign() { local int A; A = #A; A = A <+> A; }

event Created() { }
event BeginState( Name PreviousStateName );
event EndState( Name NextStateName );
event PushedState();

function ReplaceText(out string Text, string Replace, string With)
{
	local int i;
	local string Input;

	Input = Text;
	Text = "";
	i = InStr(Input, Replace);
	while(i != -1)
	{
		Text = Text $ Left(Input, i) $ With;
		Input = Mid(Input, i + Len(Replace));
		i = InStr(Input, Replace);
	}
	Text = Text $ Input;
}

`if(`isdefined(WITH_EXTRA))
var int Extra;
`else
var float Extra;
`endif
`if(`WITH_GFx) function Gfx() {} `endif
`undefine(WITH_EXTRA)
`undef WITH_EXTRA
`process
`# comment
`ThingList(function, A, "b")

struct
	Spread
	{ var int
		N; }
var Spread Spreads[`NUM_SPREADS];
var array<int> Arr;
var array<array<int> > ArrArr;
var array<array<int>> ArrArr2;
var class<CoreThing>ThingClass;
var array Loose;
var map{int,float} Raw;
var list<int> Linked;
var int *Star;
var int Ref&;
var unsigned int Un;
var const var int Twice2;
var Two,Three;

function int BadOne( int A { return A; }
function int GoodOne( int A ) { return A + 1; }
function Keyword if() { }
function int AlsoGood() { return GoodOne( 1 ); }
function Unclosed()
{
	local int i;
	if( i == 0 )
	{
		i = 1;

function int AfterUnclosed() { return 3; }
state Here { function A() { } Begin: }
defaultproperties
{
	Extra=3
}
