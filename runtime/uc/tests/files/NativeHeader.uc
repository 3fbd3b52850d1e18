/**
 * In the manner of the headers of native classes: nearly nothing of it is for scripts, and each such thing is named.
 */
class NativeHeader extends Object
	abstract
	native
	noexport
	inherits(FCallbackEventDevice)
	hidecategories(Object)
	dontsortcategories(Foo);

enum EAxis
{
	AXIS_NONE,
	AXIS_X,
	AXIS_Y,
	AXIS_BLANK, // needed for the mask
	AXIS_Z,
};

struct immutablewhencooked Plane extends Vector { var() float W; };
struct native Handle { var native const pointer Data{FVoid}; var int Count; };
struct native export Listed
{
	var() const editconst int Index;
	var transient native array<pointer> Refs{TArray<FRef*>};
	structcpptext
	{
		FListed() : Index(INDEX_NONE) {}
		TCHAR Quote() const { return '"'; } // {
	}
};

var native private const pointer StateFrame{struct FStateFrame};
var const native transient int ObjectFlags;
var native const array<int> Lists;
var private native const map{FName, INT} Table;
var const EAxis Axis;

const MaxInt2 = 0x7fffffff;
const Tiny=1.0e-4;
const Wide = 12.5f;

native(129) static final preoperator  bool  !  ( bool A );
native(130) static final operator(30) bool  && ( bool A, skip bool B );
native(240) static final postoperator int ++ ( out int A );
static final operator(20) Plane + (Plane A, Plane B) { A.W += B.W; return A; }

native(244) static final function float FMin2( float A, float B );
native static final function coerce name PackageName();
native final iterator function AllThings ( class<Object> BaseClass, out Object Object, optional class<NativeHeader> Other );
native noexport final function bool Check(optional out vector Location, optional const out array<int> Extra);

cpptext
{
	/** A comment with a brace: } and a quote: " */
	virtual void PostLoad() { check(TEXT("}") && '}' != '"'); }
#if WITH_EDITOR
	UBOOL Edit;
#endif
}

static final simulated function int Sum(array<int> Values, optional int Start=0)
{
	local int i;
	ForEach Values(i) { Start+=i; }
	Return Start;
}

final function bool Near(float A,float B,optional float Within=Tiny)
{
	return A-B<Within&&B-A<Within;
}

event Poked ( );
protected event bool Ask(name Who, optional coerce string Why="because");

defaultproperties
{
}
