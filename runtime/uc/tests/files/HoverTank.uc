//-----------------------------------------------------------
// HoverTank: in the manner of the vehicles of UT2004.
//-----------------------------------------------------------
class HoverTank extends ONSHoverCraft
    native
    nativereplication
    abstract
    placeable
    showcategories(Movement)
    hidecategories(Object, Lighting ,Sound)
    collapsecategories
    cacheexempt;

#exec OBJ LOAD FILE=..\Animations\HoverTank.ukx
#exec OBJ LOAD FILE=../textures/VehicleFX.utx
#exec AUDIO IMPORT FILE=..\Sounds\it's.wav

cpptext
{
#ifdef WITH_KARMA
	// An apostrophe: don't stop here {
	virtual void PostNetReceive();
	UBOOL KRepulsorsEnabled() { return bDriving && (*this->Name != '}') && appStricmp(TEXT("{\"}"), TEXT("'")) == 0; }
	/* } */
	virtual void UpdateVehicle( FLOAT DeltaTime )
	{
		for(INT i=0; i<Repulsors.Num(); i++) { Repulsors(i)->bEnableRepulsion = 1; }
	}
#endif
}

// wheel params
var()	float					HoverSoftness;
var()	float					HoverPenScale;
var()	float					HoverCheckDist;
var()	array<vector>			ThrusterOffsets;
var(HoverCraft) const editconst export editinline array<KRepulsor> Repulsors;
var() interpcurve MaxPitchSpeed;
var() editinline export noclear deepcopy array<SVehicleWheel> Wheels;
var array<class<Projectile> > FireClasses;
var array< class< Emitter > >DestroyEffects;
var const transient pointer RenderData;
var native const int ForceObjects[3];
var(Turret) globalconfig range Spread;
var() range YawLimit, PitchLimit[2];
var() rangevector Area;
var(Display) edfindable mesh Body<Tooltip=the body|Limit=3>;
var	float		OutputThrust; var float OutputTurn, OutputStrafe;
var() struct native export TurretInfo
{
	var() name Bone;
	var() editconst vector Offset;
	var() enum ETurretKind { TK_Laser, TK_Mortar, } Kind;
	var() class<Weapon> WeaponClass;
	var() bool bActive, bSecondary;
} Turrets[2];
var struct HoverTankState
{
	var vector					ChassisPosition;
	var Quat ChassisQuaternion;
	var byte ServerThrust;
	var bool bServerBrakes;
} TankState, OldTankState;
var private editconst array<name> Bones;
var protected input float aYaw;
var localized string TankMessages[3];
var delegate<OnTankFired> FiredHook;

replication
{
	reliable if(bNetDirty && Role==ROLE_Authority)
		TankState, OutputThrust;
	unreliable if (bNetOwner && bNetDirty && !(bNetInitial || bDemoRecording))
		ClientBounce;
	reliable if ( Role < ROLE_Authority )
		ServerToggle;
}

delegate OnTankFired( HoverTank Sender, optional int Mode );
delegate bool OnAsk( coerce string Question ) { return Question == "yes"; }

native final function bool GetBonePose(name Bone, out vector Pos, out rotator Rot);
native simulated final latent function WaitForWheels(optional float Timeout);
native(1234) static final operator(40) string $ ( coerce string A, coerce string B );
static native final function int Count(optional class<HoverTank> C = class'HoverTank');

simulated event PostNetBeginPlay()
{
    local vector RotX, RotY, RotZ;
	local KarmaParams kp;
	local KRepulsor rep;
	local int i;

    Super.PostNetBeginPlay();
    GetAxes(Rotation,RotX,RotY,RotZ);
	// Spawn and assign 'repulsors' to hold bike off the ground
	kp = KarmaParams(KParams);
	kp.Repulsors.Length = ThrusterOffsets.Length;
	for(i=0;i<ThrusterOffsets.Length;i++)
	{
    	rep = spawn(class'KRepulsor', self,, Location + ThrusterOffsets[i].X * RotX + ThrusterOffsets[i].Y * RotY + ThrusterOffsets[i].Z * RotZ);
    	rep.SetBase(self);
    	rep.bHidden = true;
    	kp.Repulsors[kp.Repulsors.Length] = rep;
    	kp.Repulsors[i] = KRepulsor( rep );
    }
    if ( Level.NetMode != NM_DedicatedServer && Level.DetailMode > DM_Low && !bDropDetail )
    	for( i = 0 ; i < DestroyEffects.length ; ++i )
    		L.AddPrecacheMaterial( DestroyEffects[i].default.Skins[ 0 ] );
    ThrusterOffsets.Remove(0, 1); ThrusterOffsets.Insert( 0, 2 );
    OnTankFired = None;
    OnAsk = InternalOnAsk;
    FiredHook = self.OnFired;
    Instigator.OnTankFired( Self );
    OnTankFired(self,,);
    while(true) { if(i++ > 3) break; }
    for(;;) break;
    for(i=0,OutputTurn=1.0; i<3 && OutputTurn>0; i++,OutputTurn-=0.5);
}

function bool InternalOnAsk(coerce string Q) { return true; }

simulated function KApplyForce( out vector Force, out vector Torque )
{
	local rotator r; local float Mag, dot;

	Super.KApplyForce(Force, Torque);
	dot = Normal(Force) dot vector(Rotation);
	Mag = (Force << Rotation).X * VSize(Torque) ** 2;
	Torque = Force cross Torque + (vect(1,0,0) >> r) * Mag - Torque*(1/dot);
	r.Yaw = (r.Yaw + 32768) & 65535;
	r = rotator(Force) - Rotation;
	r.Pitch = (r.Pitch<<2)|(r.Yaw>>>1)^~r.Roll;
	if( (r.Pitch & 0xFF) != 0 ) Mag = Mag > 0.0 ? Mag : -Mag;
	if (Velocity != vect(0,0,0) && Velocity.Z ~= 0.0) Force = -Force;
	Log("V:"@Velocity@"R:"@r$"!"@int(Mag)@bDriving@self@Class@name);
}

simulated static function StaticPrecache(LevelInfo L)
{
    Super(ONSVehicle).StaticPrecache(L);
	L.AddPrecacheStaticMesh(StaticMesh'ONSWeapons-smesh.TankDebris');
	L.AddPrecacheMaterial(Material'VMVehicles-TX.HoverTankGroup.TankRed');
	L.AddPrecacheMaterial(Texture'A-B_c.D.E F');
	default.HoverSoftness = 1.f;
}

event TakeDamage(int Damage, Pawn instigatedBy, Vector Hitlocation, Vector Momentum, class<DamageType> DamageType)
{
	if (ClassIsChildOf(DamageType,class'DamTypeRoadkill'))
		return;
	if( DamageType == None || !DamageType.default.bCausesBlood || DamageType.Default.KDamageImpulse>0.f )
		Damage *= ( instigatedBy == None ) ? 1 : 2;
	Super.TakeDamage(Damage, instigatedBy, HitLocation, Momentum, DamageType);
	if (Health < 0) { PlayerController(Controller).ClientPlaySound(sound'A.B', , , SLOT_None); Destroy(); }
	else if (Health < HealthMax*0.5) DamagedEffect = spawn(class<Emitter>(DynamicLoadObject("VFX.Smoke"$Rand(3),class'Class')),self,,Location);
	else ;
}

function ServerToggle();
exec simulated function ToggleView(optional bool bForce) { if (bForce) {} else if (!bForce) { } else; }

state VehicleDestroyed
{
ignores Tick, BaseChange, DriverLeft, KDriverEnter
;
	simulated function BeginState() { bHidden = true; }
	event EndState() { }
Begin:
    Sleep(DisintegrationHealth / 2);
    CallDestroy();
    if( false ) { Inner: Sleep( 1 ); goto 'Inner'; }
}

simulated state ClientTrail extends VehicleDestroyed { Begin: }

defaultproperties
{
    Begin Object Class=KarmaParamsRBFull Name=KParams0
        KStartEnabled=True
        KFriction=0.5
        KLinearDamping=0.15
        KInertiaTensor(0)=1.3
        KInertiaTensor(3)=4.0
        KInertiaTensor(5)=4.5
        KCOMOffset=(X=0.0,Y=0.0,Z=0.0)
        bHighDetailOnly=False
        bDestroyOnWorldPenetrate=True
        Name="KParams0"
    End Object
    KParams=KarmaParams'KParams0'

    Begin Object Class=SVehicleWheel Name=RWheel1
        BoneName="tire02"; bPoweredWheel=True
        BoneOffset=(X=0.0,Y=7.0,Z=0.0)
        BoneRollAxis=AXIS_Y
    End Object
    Wheels(0)=SVehicleWheel'HoverTank.RWheel1'
	Begin Object  Class=Engine.SVehicleWheel   Name=RWheel2
	End Object
	Wheels(1)=RWheel2

    ThrusterOffsets(0)=(X=95,Y=0,Z=10)
    ThrusterOffsets(1)=(X=-10,Y=80,Z=10)
    ThrusterOffsets(2)=(X=-10,
    	Y=-80,
    	Z=10)
    MaxPitchSpeed=(Points=((InVal=0,OutVal=25.0),(InVal=1000,OutVal=10.0),(InVal=1000000000.0,OutVal=10.0)))
    Turrets(0)=(Bone=TurretBone,Kind=TK_Mortar,WeaponClass=Class'Onslaught.ONSMortar',bActive=true)
    Turrets[1]=(Bone='Rear Bone',Offset=(X=1,Y=-2.5f))
    Spread=(Min=0.0,Max=1.0)
    DestroyEffects(0)=class'Onslaught.ONSVehicleExp'
    FireClasses(0)=Class'XWeapons.RocketProj'
    Bones(0)=Root
    Bones(1)="Bip01 Head"
    TankMessages(0)="(BOOST)"
    Mesh=SkeletalMesh'ONSVehicles-A.HoverTank'
    RedSkin=Shader'VMVehicles-TX.HoverTankGroup.TankChassisFinalRED'
    VehiclePositionString="in a \"tank\""
    VehicleNameString="Hover Tank 1.5"
    HoverSoftness=0.09
    HoverPenScale=1.0;
    CollisionRadius=+150.0
    bDrawVehicleShadow=true
    DriverWeapons(0)=(WeaponClass=class'Onslaught.ONSTankGun',WeaponBone=Gun)
    OnTankFired=HoverTank.InternalFired
    OnAsk=InternalOnAsk
}
