/**
 * ScatterRifle: in the manner of the weapons of UT3, Windows line ends.
 */
class ScatterRifle extends UTWeapon
	abstract
	guid(12345678, 0x1234ABCD, 99, 4)
	Config(Weapon)
	editinlinenew
	hidedropdown
	exportstructs;

var UDKParticleSystemComponent MuzzleFlashPSC;
var() config float SpreadDist<Units=uu>, MaxRange;
var array<Projectile> Shots;
var const enum EScatterMode { SCM_Wide, SCM_Narrow } Mode, LastMode;
var repnotify byte ChargeLevel;
var SoundCue ChargeSounds[3];
var(Animations) array<name> FireAnims;
var protected	CameraAnim	FireCameraAnim[2];
var ForceFeedbackWaveform Wave;
var class<UTProj_Rocket> SeekingRocketClass;
var string Text1, Text2;

const MAX_SHOTS = 5;
const DEF_NAME	= 'Scatter';
const GRAVITY	= -0.5;
const ZERO = 0;

`define DEBUG_SCATTER(dummy)
`if(`notdefined(RELEASE))
var int DebugShots;
`endif

simulated function PostBeginPlay() { Super.PostBeginPlay(); if (Mode==SCM_Wide) SpreadDist=10.0; }

simulated function CustomFire()
{
	local int i,j;
	local vector RealStartLoc, AimDir, YDir, ZDir;
	local Projectile Proj;
	local class<Projectile> ShardProjectileClass;
	local float Mag;

	IncrementFlashCount();
	if (Role == ROLE_Authority)
	{
		// this is the location where the projectile is spawned
		RealStartLoc = GetPhysicalFireStartLoc();
		// get fire aim direction
		GetAxes(GetAdjustedAim(RealStartLoc),AimDir, YDir, ZDir);

		// special center shard
		Proj = Spawn(class'UTProj_FlakShardMain',,, RealStartLoc);
		if (Proj != None)
			Proj.Init(AimDir);

		// one shard in each of 9 zones (except center)
		ShardProjectileClass = GetProjectileClass();
		for ( i=-1; i<2; i++)
		{
			for ( j=-1; j<2; j++ )
			{
				if ( (i != 0) || (j != 0) )
				{
					Mag = (abs(i)+abs(j) > 1) ? 0.7 : 1.0;
					Proj = Spawn(ShardProjectileClass,,, RealStartLoc);
					if (Proj != None)
					{
						Proj.Init(Normal(AimDir + (0.3 + 0.7*FRand())*Mag*i*SpreadDist*YDir + (0.3 + 0.7*FRand())*Mag*j*SpreadDist*ZDir) );
						Shots[Shots.Length] = Proj;
					}
				}
		    }
		}
	}
	`DEBUG_SCATTER(self);
	`if(`notdefined(RELEASE)) DebugShots++; `endif
}

static function string ShortName(optional coerce string Before="<", optional name N=DEF_NAME, optional vector V=vect(1,2,3))
{
	return Before$N$V.X;
}

simulated function DrawWeaponCrosshair( Hud HUD )
{
	local vector2d CrosshairSize;
	local float x,y,ScreenX, ScreenY;
	local UTHUDBase	H;
	local color C;
	local UIRoot.TextureCoordinates TC;

	H = UTHUDBase(HUD);
	if ( H == none )
		return;
	CrosshairSize.Y = H.ConfiguredCrosshairScaling * CrosshairScaling * CrossHairCoordinates.VL * H.Canvas.ClipY/720;
	CrosshairSize.X = CrosshairSize.Y * ( CrossHairCoordinates.UL / CrossHairCoordinates.VL );
	X = H.Canvas.ClipX * 0.5; Y = H.Canvas.ClipY * 0.5;
	ScreenX = X - (CrosshairSize.X * 0.5);
	if ( CrosshairImage != none )
	{
		C = class'HUD'.default.WhiteColor; C.A=64;
		H.Canvas.DrawColor = MakeColor(255,255,255,C.A);
		H.Canvas.SetPos( ScreenX+1, ScreenY+1, 0.1 );
		H.Canvas.DrawTile(CrosshairImage,CrosshairSize.X, CrosshairSize.Y, TC.U, TC.V, TC.UL,TC.VL);
	}
	H.Canvas.DrawText(int(ChargeLevel)$"/"$MAX_SHOTS,, 1.0f, 1.0f);
}

function byte BestMode()
{
	local float EnemyDist;
	local UTBot B;

	B = UTBot(Instigator.Controller);
	if ( (B == None) || (B.Enemy == None) )
		return 0;
	EnemyDist = VSize(B.Enemy.Location - Instigator.Location);
	if ( EnemyDist > 750 )
	{
		if ( EnemyDist > 2000 )
		{
			if ( EnemyDist > 3500 )
				return 0;
			return (EnemyDist < 2000);
		}
		if ( EnemyDist < 2000 - 1600 * FRand() ) { return (1); }
	}
	return byte(B.Skill);
}

reliable client function ClientCharge( byte Level ) { ChargeLevel = Level; }
unreliable server private final function ServerCharge() {}
simulated event bool IsReady( ) { return !bWeaponPutDown || ChargeLevel>=MAX_SHOTS; };
simulated function SetSkin(Material NewMaterial);
function class<Projectile> GetProjectileClass() { return CurrentFireMode == 0 ? class'UTProj_FlakShard' : default.SeekingRocketClass; }
function array<name> GetAnims(out array<float> Rates, const array<int> Which) { local array<name> Out; return Out; }
final static operator(22) vector <+> (vector A, vector B) { return A; }
static final preoperator string # (int A) { return ""$A; }
static final function bool Operator_Test() { return true; }

simulated state WeaponLoadAmmo
{
	simulated function ProcessInstantHit( byte FiringMode, ImpactInfo Impact, optional int NumHits ) { local int i; i = 3; }
	simulated event BeginState(Name PreviousStateName)
	{
		local string S;
		S = "Begin: { \" } it's";
		switch (S) { case "{": break; default: }
		Super.BeginState(PreviousStateName);
	}
	simulated function bool IsFiring() { return true; }
Begin:
	Sleep(0.1f);
Loop:
	if (ChargeLevel < MAX_SHOTS) { ChargeLevel++; Goto 'Loop'; }
	StopFire(0);
}

simulated state WeaponFiring extends WeaponLoadAmmo { }
state Active
{
	ignores StartFire,
		StopFire;
	simulated function BeginFire( byte FireModeNum );
}

defaultproperties
{
	// Weapon SkeletalMesh
	Begin Object class=AnimNodeSequence Name=MeshSequenceA
	End Object

	Begin Object Class=UDKSkeletalMeshComponent Name=FirstPersonMesh Archetype=UDKSkeletalMeshComponent'UTGame.Default__UTWeapon:FirstPersonMesh'
		SkeletalMesh=SkeletalMesh'WP_Flak.Mesh.SK_1P'
		PhysicsAsset=None
		Animations=MeshSequenceA
		Rotation=(Yaw=-16384)
		FOV=60.0
		Scale3D=(X=1,Y=1.0,Z=-1.f)
	End Object
	Mesh=FirstPersonMesh
	AttachmentClass=class'UTGameContent.UTAttachment_Flak'

	FireInterval(0)=+1.1
	FireInterval(1)=+1
	WeaponFireTypes(0)=EWFT_Custom
	WeaponFireTypes[1]=EWFT_Projectile
	WeaponProjectiles(1)=class'UTProj_FlakShell'
	WeaponEquipSnd=SoundCue'A_Weapon.Cue.A_Raise_Cue'
	MuzzleFlashColor=(R=200,G=64,B=64,A=255)
	FireOffset=(X=16,Y=10,Z=-10)
	FireAnims=("Fire1","Fire 2",Fire3)
	FireAnims.Add(WeaponFire)
	Begin Object Class=ForceFeedbackWaveform Name=ForceFeedbackWaveformShooting1
		Samples(0)=(LeftAmplitude=60,RightAmplitude=50,LeftFunction=WF_Constant,RightFunction=WF_LinearDecreasing,Duration=0.200)
	End Object
	Wave=ForceFeedbackWaveformShooting1
	Text1="a\\b"
	Text2="" // nothing
	bFastRepeater=false
	PickupMessage="Scatter"Text2="same line"
	QuickPickGroup=6
	QuickPickWeight=0.9
	Mode=SCM_Narrow
	ChargeSounds(ZERO)=None
	CrossHairCoordinates=(U=192,V=64,UL=64,VL=64)
	LockerRotation=(pitch=0,yaw=0,roll=-16384)
	IconCoordinates=(U=600,V=341,UL=111,VL=58,)
	SpreadDist=0.1
	AmmoCount=10;MaxAmmoCount=30;
}
