//=============================================================================
// PulseCannon. A weapon in the old style: states, labels, latent code,
// names of variables that are keywords elsewhere.
//=============================================================================
class PulseCannon expands Actor
	abstract
	config(User)
	native
	nativereplication;

// Pickup pictures
#exec MESH IMPORT MESH=PulseCannonM ANIVFILE=MODELS\pulse_a.3d DATAFILE=MODELS\pulse_d.3d X=0 Y=0 Z=0
#exec MESH ORIGIN MESH=PulseCannonM X=0 Y=0 Z=0 YAW=64
#exec AUDIO IMPORT FILE="Sounds\hum.wav" NAME="Hum" GROUP="Pulse"

`define DEBUG_PULSE 1
`if(`notdefined(FINAL_RELEASE))
var int DebugCount;
`endif

var() travel int AmmoCount, Clip[2];
var() name Event;
var() float FireAdjust, State;
var bool bCanThrow,bWeaponUp;
var{private} int Hidden;
var input byte bFire;
var travel string Stop;
var enum EFireMode { FM_None, FM_Primary, FM_Alt } FireMode;
var(Sounds) Object FireSound, AltSound;
var Actor Links[4];
var struct Burst
{
	var() float Time; // when
	var() vector Spot;
	var int Count;
} LastBurst, Bursts[8];

replication
{
	// Things the server should send to the client.
	reliable if( Role==ROLE_Authority && bNetOwner )
		AmmoCount, bCanThrow;
	unreliable if( Role<ROLE_Authority )
		ServerFire;
}

native(1033) final function bool TraceBeam(vector Start, optional vector End);
native simulated final function Stop2();
static final function operator(18) int % (int A, int B);
static native(170) final preoperator vector - (vector A);

function bool Use(Actor Other, optional bool bForce)
{
	local int i, j;
	local vector X,Y,Z, HitLocation;
	local Burst B;

	Event = 'Used';
	if( Event=='' || Event == 'None' )
		Event = Other.Tag;
	State = 0.5 * FireAdjust;
	Stop = "stopped";
	for( i=0; i<ArrayCount(Links); i++ )
	{
		if( Links[i]==None )
			continue;
		for( j=0; j<4; j++ )
			if( (Links[j] != None) && (j != i) && (Links[j]==Links[i]) )
			{
				Links[j] = None;
				break;
			}
	}
	B.Time = State;
	B.Spot = Location + FireAdjust * X;
	B.Count++;
	LastBurst = B;
	Bursts[B.Count & 7] = LastBurst;
	if ( bForce )
		;
	else if ( !bCanThrow && (AmmoCount <= 0) ) return false;
	HitLocation = (X + Y) * 0.5 - Z / 2.0;
	AmmoCount -= Clip[0] + Clip[1] << 1;
	return ( VSize(HitLocation) < 100 );
}

function SetMode(EFireMode NewMode)
{
	switch( NewMode )
	{
		case FM_None:
		case FM_Primary:
		{
			FireMode = NewMode;
			break;
		}
		case FM_Alt:
			if( bWeaponUp )
				FireMode = FM_Primary;
			else
				FireMode = FM_Alt;
			break;
		Default:
			FireMode = FM_None;
	}
	while ( FireMode > FM_None && AmmoCount-- > 10 ) { Clip[FireMode] += 1; }
}

simulated function Fire( float Value )
{
	local Actor A;

	if( AmmoCount>0 )
		GotoState('NormalFire');
	foreach RadiusActors(class'Actor', A, 200, Location)
		if ( A != self )
			A.TakeDamage(5, AmmoCount);
	Stop();
	Super(Actor).ReceiveTick(Value);
	Global.SetMode(FM_Alt);
	class'PulseCannon'.static.Describe(Self);
	Log("fired" @ Value $ "(" $ FireAdjust $ ")" @ FireMode @ Location);
}

function Stop()
{
	bWeaponUp = false;
}

static function string Describe(PulseCannon P)
{
	if ( P == None )
		return "nothing:" $ default.AmmoCount;
	return P.Label @ P.Class @ P.default.AmmoCount @ class'PulseCannon'.Default.FireMode;
}

state NormalFire
{
	ignores Fire;

	function Tick( float DeltaTime )
	{
		if( bFire==0 ) GotoState('Idle');
	}

	event BeginState() { local int i; i = '{'; }

Begin:
	FinishAnim();
	Sleep(0.1);
	if ( bFire!=0 )
		goto 'Begin';
Done:
	stop;
}

auto state() Idle
{
Begin:
}

simulated state Down extends Idle { }

defaultproperties
{
	AmmoCount=50
	Clip(0)=10
	Clip(1)=0x14
	Event=PulseUsed
	FireAdjust=.5
	FireMode=FM_Primary
	bCanThrow=True
	LastBurst=(Time=1.5,Spot=(X=10,Y=-20.5,Z=+3),Count=2)
	Bursts(1)={(
		Time=2.0,
		Count=7
	)}
	Label="Pulse Cannon"
	Links(0)=None
	FireSound=Sound'Pulse.Hum'
	Location=(X=1,Y=2,Z=3);
	Rotation=(Yaw=16384)
	Phase=PHASE_Running
	DrawType=DT_Mesh
	Mesh=LodMesh'PulseCannonM'
}
