/**
 * DesertPawn: in the manner of the pawns of UDK.
 * @see Pawn
 */
class DesertPawn extends UDKPawn
	config(Game)
	dependson(DesertPlayerController, DesertTypes)
	native(Pawn)
	implements(Interface_Speaker, UIDataStoreSubscriber)
	hidecategories(Object,Movement)
	autoexpandcategories(DesertPawn)
	DontSortCategories(Display)
	ClassGroup(Desert, Pawns)
	inherits(FCallbackEventDevice)
	notplaceable;

`include(Desert.uci)
`include(Desert\Classes\DesertGlobals.uci)

`define DesertSpeed 440.0
`define ClampSpeed(Value, Max="`DesertSpeed") \
	FClamp(`Value, 0.0, `Max); \
	if( `Value > 1 ) { \
		SpeedUp(`{Value}Count); \
	}
`define Empty

/** What a pawn carries. */
struct native CarriedThing
{
	/** where */
	var() name Socket<DisplayName=The Socket|ToolTip=Where it hangs (or "None")>;
	var init array<float> Weights;
	var transient native const pointer RawThing{struct FThing};
	var native map{FName,INT} NameToIndex;
	var const native transient MultiMap_Mirror Pairs{TMultiMap<FName, TArray<INT> >};
	var private{private} delegate<OnFootstep> Callback;
	structcpptext
	{
		FCarriedThing() { appMemzero(this, sizeof(FCarriedThing)); }
	}
	structdefaultproperties
	{
		Socket=Hand
		Weights(0)=1.f
		Weights.Add(2.5)
	}
};

struct native immutablewhencooked SandGrain extends CarriedThing { var float Size; };
struct { var int Unnamed; };

enum ESandKind<Bitflags>
{
	SAND_None<DisplayName=None>,
	SAND_Fine<DisplayName="Fine, soft">,
	SAND_Coarse
};

/** The mesh. */
var(Mesh) editconst const editinline instanced export DynamicLightEnvironmentComponent LightEnvironment;
var() editinline array<SkeletalMeshComponent> Overlays, Extra;
var repnotify int CurrentSand<ClampMin=0|ClampMax=10>;
var RepNotify class<DesertWeapon> CurrentClass;
var(Sand, Advanced) interp float SandLevel;
var const databinding string DisplayName;
var crosslevelpassive transient Actor OtherActor;
var duplicatetransient notforconsole editoronly array<string> Notes;
var protectedwrite bool bBuried;
var privatewrite const transient noimport nontransactional float Time;
var transient private{protected} float Hidden;
var array<CarriedThing> Carried;
var native const transient noexport int VfTable_FCallback;
var instanced editfixedsize array<object> Fixed;
var globalconfig bool bShowSand;
var array< delegate<OnFootstep> > Steps;
var ESandKind KindsBySlot[ESandKind.EnumCount];
var float SlotWeights[SAND_MAX];
var `Kind OddlyTyped;
var bool b`{Suffix}Flag;

cpptext
{
	virtual UBOOL Tick(FLOAT Delta, enum ELevelTick TickType);
	static FString Name() { return TEXT("it's } a brace"); } // } and '
	INT* GetOptimizedRepList( BYTE* InDefault, FPropertyRetirement* Retire, INT* Ptr, UPackageMap* Map, UActorChannel* Channel );
}

replication
{
	if ( bNetDirty )
		CurrentSand, CurrentClass;
	if ( bNetDirty && (Role == ROLE_Authority) && !bNetOwner )
		bBuried;
}

delegate OnFootstep( int Foot, optional const out vector Where );

native final function bool GetSandAt( const out vector Where, out float Depth, optional out ESandKind Kind, optional bool bExact=true ) const;
native static noexport final private function float SandDensity( ESandKind Kind );
native(547) static final simulated function bool IsInSand( Actor Other );
native reliable server event ServerSink();
native final iterator function AllGrains( class<SandGrain> Kind, out Actor Grain, optional vector Where = vect(0,0,0) );
final latent native function SinkSlowly( float Depth = 1.0 );

reliable server function ServerBury( bool bBury, optional float Depth = default.SandLevel );
unreliable client simulated event ClientGritSound( SoundCue Cue );
protected reliable demorecording function Demo();

/* epic ===============================================
* ::PostBeginPlay
* =====================================================
*/
simulated event PostBeginPlay()
{
	local int Index;
	local CarriedThing Thing, EmptyThing;
	local array<Actor> Found;
	local DesertPawn P;
	local editinline SkeletalMeshComponent C;
	local Actor.TraceHitInfo HitInfo;
	local delegate<OnFootstep> Step;

	super.PostBeginPlay();
	`log("pawn" @ self @ "it's here (or not)", bShowSand, 'Desert');
	`Log( `location @ `ShowVar(Index) @ `showobj(Controller), , 'Desert' );
	`warn("odd: " $ `{Index});
	`assert( Mesh != None );
	`if(`isdefined(FINAL_RELEASE))
		bShowSand = false;
	`else
		bShowSand = true;
	`endif
	SandLevel = `ClampSpeed( SandLevel, 3.0 );
	SandLevel = `DesertSpeed * 2 + `{DesertSpeed};
	GroundSpeed *= `Empty 2.0;
	foreach WorldInfo.AllPawns( class'DesertPawn', P, Location, 500.f )
	{
		Index = Found.AddItem( P );
		Found[Found.Length] = P;
	}
	foreach Overlays( C ) { C.SetHidden( true ); }
	foreach Carried( Thing, Index ) Thing.Weights.Length = Index;
	foreach DynamicActors( class'Actor', OtherActor, class'Interface_Speaker' ) { break; }
	ForEach Mesh.AttachedComponents( class'ActorComponent', C )
		C.DetachFromAny();
	Carried.AddItem( EmptyThing );
	Carried.RemoveItem( Thing ); Carried.Sort( CompareThings );
	Index = Carried.Find( 'Socket', 'Hand' );
	if ( Index != INDEX_NONE ) { Carried.Remove( Index, 1 ); Carried.InsertItem( 0, Thing ); }
	Step = OnFootstep; Step( 1 ); OnFootstep = None;
	Steps[Steps.length] = P.OnFootstep;
	CurrentClass = class<DesertWeapon>( DynamicLoadObject( "Desert.Weapon_" $ CurrentSand, class'Class' ) );
	CurrentSand = Rand( ESandKind.EnumCount ); CurrentSand = SAND_MAX; CurrentSand = ESandKind.SAND_MAX - 1;
	DisplayName = string( GetEnum( enum'ESandKind', CurrentSand ) ) $ Localize( "Sand", "Name", "Desert" );
	if ( TimeSince( Time ) > 1.0 && `TimeSince( Time ) < 5 ) SetTimer( 0.1, false, nameof( Bury ), self );
	Trace( Location, Location, Location, Location, true, vect(1,1,1), HitInfo, TRACEFLAG_Bullet | TRACEFLAG_PhysicsVolumes );
	Mesh = new(self) class'SkeletalMeshComponent' (Mesh);
	C = new class'SkeletalMeshComponent';
	C = new(None, "Name") CurrentClass.default.MeshClass;
	C = new(Outer, 'Name', 4) class'SkeletalMeshComponent';
	bBuried = (Index > 1) ? true : (Index == 0 ? false : bBuried);
	#if 0
	Index = 0;
	#endif
}

simulated event ReplicatedEvent( name VarName )
{
	if ( VarName == 'CurrentSand' ) SandChanged( CurrentSand );
	else if ( VarName == nameof(CurrentClass) ) { }
	else
	{
		Super.ReplicatedEvent( VarName );
	}
}

reliable server function ServerBury( bool bBury, optional float Depth = 1.0 ) { bBuried = bBury; }

delegate int CompareThings( CarriedThing A, CarriedThing B ) { return A.Weights.Length < B.Weights.Length ? -1 : 0; }

function bool Died( Controller Killer, class<DamageType> DamageType, vector HitLocation )
{
	local class<UTDamageType> UTD;
	UTD = class<UTDamageType>( DamageType );
	if ( Killer == None || UTD != None && UTD.default.bIsTest && !UTD.static.ShouldGib( self ) )
		return false;
	DamageType.static.SpawnHitEffect( self, 1, HitLocation, , );
	Interface_Speaker( Controller ).Speak( "ouch", 'Pain', , -1 );
	PlayerController(Controller).myHUD.default.Class.static.ClassName();
	return Super( UDKPawn ).Died( Killer, DamageType, HitLocation );
}

event Tick( float Delta )
{
	local quat Q; local matrix M;
	local vector X, Y, Z; local rotator R;
	local int I<Hint=locals have none>;

	GetAxes( R, X, Y, Z );
	Q = QuatFromRotator( R ); Q = Q * Q; M = M * M;
	R = RLerp( R, rot( 0, -16384, 0x4000 ), Delta, true );
	R.Yaw += 65536 * Delta * (180.0 / PI) * DegToUnrRot;
	Velocity = X * 10 + Y * -5 - Z / -0.5 + vect( 0, 0, -1 );
	if ( Velocity.X > 0 && -Velocity.Y < 0 ) Velocity.Z = FMax( , 1 );
	SetPhysics( PHYS_None );
	if ( Role == ROLE_Authority ) return;
	else return;
}

auto simulated state() Alive extends Active
{
	ignores Sleep;
	function BeginState( name Previous ) { `log( "alive }" ); }
	simulated event Tick( float D ) { global.Tick( D ); }
Begin:
	Sleep( 0.1 );
}

state Sinking { event Landed( vector N, Actor F ) {} Begin: SinkSlowly( 3 ); GotoState( '' ); }

defaultproperties
{
	// the light
	Begin Object Class=DynamicLightEnvironmentComponent Name=MyLightEnvironment ObjName=MyLightEnvironment Archetype=DynamicLightEnvironmentComponent'Engine.Default__DynamicLightEnvironmentComponent'
		bSynthesizeSHLight=TRUE
		AmbientGlow=(R=.2f,G=.2,B=.2)
		ModShadowFadeoutTime=0.75f
		ObjectArchetype=DynamicLightEnvironmentComponent'Engine.Default__DynamicLightEnvironmentComponent'
		Name="MyLightEnvironment"
	End Object
	Components.Add(MyLightEnvironment)
	LightEnvironment=MyLightEnvironment

	Begin Object Name=CollisionCylinder
		CollisionRadius=+0021.000000
		CollisionHeight=+0044.000000
	End Object
	CylinderComponent=CollisionCylinder

	Begin Object Class=SkeletalMeshComponent Name=WPawnSkeletalMeshComponent
		LightEnvironment=MyLightEnvironment
		RBCollideWithChannels=(Default=TRUE,BlockingVolume=true,
			Vehicle=True)
		Translation=(Z=8.0)
		Materials[0]=MaterialInterface'Desert.M_Sand'
		AnimSets(0)=AnimSet'CH_AnimHuman.Anims.K_AnimHuman_BaseMale'
	End Object
	Mesh=WPawnSkeletalMeshComponent
	Components.Add(WPawnSkeletalMeshComponent);
	Components.Remove(Sprite)
	Components.RemoveIndex(0)
	Overlays.Empty

	KindsBySlot(SAND_Fine)=SAND_Fine
	KindsBySlot[ESandKind.SAND_Coarse]=SAND_Coarse
	SlotWeights[0]=1
	CurrentClass=class'DesertWeapon'
	Carried(0)=(Socket=Hand,Weights=(1,2,3))
	Carried.Add((Socket="Back Bone",Weights={(4,5)}))
	Carried.Add(
		(Socket=Foot)
	)
	bShowSand=`DesertShow
	`define X 1
	SandLevel=`{DesertSpeed}
	Notes[0]="percent % and `tick"
	GroundSpeed=440.0
	AccelRate=+.5
	MaxJumpHeight=-  5
	bCanStrafe=True, bCanSwim=True,
	WalkableFloorZ=1e-3
	OnFootstep=StepTaken
}
