//=============================================================================
// CaveLizard.
// In the manner of the first Unreal: expands, intrinsic, strings of a fixed length.
//=============================================================================
class CaveLizard expands ScriptedPawn
	intrinsic
	config(Lizards);

#exec MESH IMPORT MESH=Lizard1 ANIVFILE=MODELS\lizard_a.3d DATAFILE=MODELS\lizard_d.3d X=0 Y=0 Z=0
#exec MESH ORIGIN MESH=Lizard1 X=0 Y=-130 Z=30 YAW=64 ROLL=-64
#exec MESH SEQUENCE MESH=Lizard1 SEQ=All       STARTFRAME=0   NUMFRAMES=214
#exec MESH NOTIFY MESH=Lizard1 SEQ=Bite TIME=0.5 FUNCTION=BiteDamageTarget // it's "here"
#exec TEXTURE IMPORT NAME=JLizard1  FILE=MODELS\lizard.PCX GROUP=Skins /* FLAGS=2
#exec AUDIO IMPORT FILE="Sounds\Lizard\hiss one.WAV" NAME="Hiss1" GROUP="Lizard"
#EXEC OBJ LOAD FILE=..\Textures\*.utx PACKAGE=CaveLizard
	#exec MESHMAP SCALE MESHMAP=Lizard1 X=0.1 Y=0.1 Z=0.2

//-----------------------------------------------------------------------------
// Lizard variables.

// Attack damage.
var() byte
	BiteDamage,		// Basic damage done by bite.
	TailDamage,		// done by the tail.
	SpitDamage;
var() float ChargeSpeed, LeapHeight[ 4 ];
var(Sounds) sound Hiss, Bite  , Growl;
var bool bBite1,
         bTailed , bAttackBump;
var travel int Kills;
var() localized string[64] LizardName;
var string[ 32 ] Nicknames[4];
var globalconfig bool bNoSpit;
var config enum EHunger
{
	HUNGER_None, // full
	HUNGER_Some,
	HUNGER_Much  /* starving /* as they say */ */
} Hunger;
var private transient vector LastSeenPos, Steps[8];
var() class<Projectile> SpitType;
var enum ESkin { SKIN_Green, SKIN_Brown } LizardSkin[2];
var name OldState, OldLabel; var int Spare;
var input byte aButton;
var button OldButton;

const MaxSteps	= 8;
const Title		= "lizard \"of the caves\"";
const Reach=120.0;
const Mask = 0x7FFF;

struct LizardMemory
{
	var() actor Who;
	var() config int   When, Where[2];
	var string[16] Why;
};
var LizardMemory Memory[MaxSteps];

replication
{
	// Things the server should send to the client.
	reliable if( Role==ROLE_Authority )
		Hunger, LizardSkin, Kills;
	unreliable if( Role==ROLE_Authority && !bNetOwner )
		PlayHiss;
	reliable if ( Role<ROLE_Authority )
		ServerBite, ServerSpit;
}

//-----------------------------------------------------------------------------
// Intrinsics.

intrinsic(513) final latent function SlitherTo( vector Goal, optional float Speed );
intrinsic(515) static final function int NumLizards();
intrinsic(516) final iterator function NearLizards( class<CaveLizard> Kind, out CaveLizard Found, optional float Radius );
intrinsic function string[128] Describe( coerce string[128] What );
intrinsic(129) static final preoperator  bool  !  ( bool A );
intrinsic(130) static final operator(30) bool  && ( bool A, skip bool B );
intrinsic(150) static final operator(24) bool  <  ( int A, int B );
intrinsic(151) static final operator(24) bool  >  ( int A, int B );
intrinsic(148) static final operator(22) int   << ( int A, int B );
intrinsic(153) static final operator(24) bool  >= ( int A, int B );
intrinsic(165) static final postoperator int ++ ( out int A );

//-----------------------------------------------------------------------------
// Lizard functions.

function PreSetMovement()
{
	bCanJump = true;
	bCanWalk = True;
	bCanSwim = FALSE;
	MinHitWall = -0.6;
	if (Intelligence > BRAINS_Reptile) bCanOpenDoors = true;
	else bCanOpenDoors = false;
}

function bool SetEnemy( Pawn NewEnemy )
{
	local bool result;
	local eAttitude newAttitude;
	local string[32] S;

	result = false;
	if (CaveLizard(NewEnemy) != None)
		if (CaveLizard(NewEnemy).Hunger == Hunger)
			return false;
		else
			result = true;
	S = "lizard" $ Kills @ "kills";
	Nicknames[0] = S;
	return ( Super.SetEnemy(NewEnemy) || result );
}

function string[64] FullName( int Which )
{
	switch( Which )
	{
		case 0:
		case 1:
			return LizardName;
		case MaxSteps:
		default:
			break;
	}
	return Nicknames[Which & 3];
}

singular function Falling() { SetFall(); }

event Landed( vector HitNormal ) { Super(Pawn).Landed(HitNormal); Velocity *= 0.3; }

simulated function PlayHiss()
{
	PlaySound( Hiss, SLOT_Talk, 2 * TransientSoundVolume,, 800, 0.9 + 0.2*FRand() );
	LoopAnim( 'Breath', 0.2 + 0.3 * FRand() , , 0.1 );
}

exec function Feed( int N )
{
	local int i;
	if( N<=0 ) return;
	for( i=0; i<N; i++ )
		if( FRand() < 0.5 ) Kills++;
		else if( Kills>0 ) Kills--;
	do
	{
		i -= 1;
	} until( i < 0 );
	while( i < 4 ) { i++; if( i==2 ) continue; if( i == 3 ) break; }
}

function ServerBite() { GotoState( 'Biting', 'Begin' ); }

final function vector NextStep( int i ) { return Steps[i%8] + vect(0,0,1)*LeapHeight[0] - Location; }

function EAttitude AttitudeToCreature( Pawn Other )
{
	if ( Other.IsA( 'Nali' ) )
		return ATTITUDE_Ignore;
	else if( Other.Class == class'CaveLizard' || ClassIsChildOf(Other.Class, class 'CaveLizard') )
		return ATTITUDE_Friendly;
	return Super.AttitudeToCreature( Other );
}

function LookAround()
{
	local Pawn P;
	local CaveLizard L;

	foreach AllActors( class'Pawn', P, 'Prey' )
		if( P.Health > 0 && VSize(P.Location - Location) < Reach )
		{
			Enemy = P;
			break;
		}
	foreach NearLizards( class'CaveLizard', L )
	{
		L.Target = Target;
	}
	goto Done;
Again:
	Kills++;
Done:
	if( Kills < 0 ) goto Again;
}

//-----------------------------------------------------------------------------
// States.

auto state StartUp
{
	function SetFall()
	{
		NextState = 'Attacking'; NextLabel = 'Begin';
	}
Begin:
	Sleep( 0.1 );
	if( Hunger == HUNGER_Much )
		goto 'Hungry';
	WaitForLanding();
Hungry:
	GotoState( 'Roaming' );
}

state() Roaming
{
ignores EnemyNotVisible, HearNoise;

	function Bump( actor Other )
	{
		if( Other == Enemy ) { Disable('Bump'); GotoState(,'Wander'); }
	}
	event BeginState();
	function EndState() { LizardSkin[0] = SKIN_Brown; }

Begin:
	//log( class$" roaming" );
Wander:
	PickDestination();
	MoveTo( Destination, 0.5 );
	FinishAnim();
	stop;
Turn:	TurnToward( Enemy );
	goto( 'Wander' );
}

state Biting expands Roaming
{
ignores SeePlayer;
	function Tick( float DeltaTime )
	{
		if( "}" == Title ) return;
		Global.Tick( DeltaTime ); // }
	}
Begin: stop;
}

state Dead
{
	ignores All;
}

defaultproperties
{
	BiteDamage=15
	TailDamage=20;
	SpitDamage= 25
	ChargeSpeed=+00400.000000
	LeapHeight(0)=000080.000000
	LeapHeight(1)= -1.5
	LeapHeight(3)=.25
	LizardName="cave \"lizard\""
	Nicknames(0)="Bob"
	Nicknames(1)=
	Nicknames(2)="it's"
	Hunger=HUNGER_Some
	LizardSkin(1)=SKIN_Brown
	SpitType=Class'UnrealI.SpitBlob'
	bNoSpit=TRUE
	Memory(0)=(Who=None,When=1,Where[0]=2,Why="no reason")
	Memory(1)=(When=-5,Where(1)=7)
	Steps(2)=(X=1.000000,Z=-00002.000000)
	Hiss=Sound'CaveLizard.Lizard.Hiss1'
	Mesh=Mesh'CaveLizard.Lizard1'
	DrawType=DT_Mesh
	Skin=Texture'CaveLizard.Skins.JLizard1'
	Tag=
	CombatStyle=0.500000
	Mass=+00150.000000
	RotationRate=(Pitch=3072,Yaw=65000,Roll=0)
}
