/**
 * A turret in the style of UDK: components, delegates, dynamic arrays, macros.
 */
class TurretPawn extends Pawn
	native(Turret)
	implements(Sings)
	config(Game)
	dependson(TurretTypes)
	abstract;

`include(Turret.uci)

/** How the turret picks a target. */
enum ETargeting
{
	TARGET_Nearest<DisplayName=Nearest>,
	TARGET_Weakest,
	TARGET_Random
};

struct native TurretShot extends Color
{
	/** Where it goes. */
	var() vector Aim;
	var float Damage;
	var array<Actor> Hit;
	var ETargeting How;

	structdefaultproperties
	{
		Damage=12.5
		How=TARGET_Weakest
	}
	structcpptext
	{
		FTurretShot() {}
	}
};

struct Weighted
{
	var float Weight;
	var Actor Who;
};

const MAX_SHOTS = 0x10;
const GRAVITY = -9.81;
const UP = vect(0,0,1);
const NO_NAME = 'None';

var(Turret) editconst const int Ammo<ToolTip=Rounds left, at most 16|ClampMin=0>;
var(Turret) private{private} float RefireTime;
var protectedwrite bool bArmed;
var array<TurretShot> Shots;
var array< class<Actor> > AllowedTargets;
var delegate<OnShot> ShotHandlers[2];
var repnotify ETargeting Targeting;
var const native pointer VTable;
var transient export editinline Component Base1, Base2;
var map<name, int> Counters;

var struct LocalInfo
{
	var int A, B;
} Info;

delegate OnShot(TurretShot Shot, int Number)
{
	`log("unhandled shot" @ Number);
}

delegate bool MayFire(Actor At);

event PreBeginPlay()
{
	super.PreBeginPlay();
	OnShot = CountShot;
	ShotHandlers[0] = OnShot;
	ShotHandlers[1] = none;
}

function CountShot(TurretShot Shot, int Number)
{
	Shots.AddItem(Shot);
	Shots[Shots.Length - 1].Damage *= 1.5f;
	if (Shots.Length > MAX_SHOTS)
		Shots.Remove(0, Shots.Length - MAX_SHOTS);
	Counters['shots'] = Counters['shots'] + 1;
}

function int CompareWeighted(Weighted A, Weighted B)
{
	return A.Weight < B.Weight ? -1 : 0;
}

function Actor PickTarget(optional float MaxRange = 2000.0, optional out int Tried)
{
	local array<Weighted> Candidates;
	local Weighted W;
	local Actor A;
	local int i;
	local class<Actor> Allowed;

	foreach DynamicActors(class'Actor', A)
	{
		if (VSize(A.Location - Location) > MaxRange) continue;
		W.Who = A;
		W.Weight = (Targeting == TARGET_Random) ? FRand() : 1.f / FMax(VSize(A.Location - Location), 1.0);
		Candidates.AddItem(W);
		Tried++;
	}
	foreach AllowedTargets(Allowed, i)
	{
		if (ClassIsChildOf(A.Class, Allowed)) break;
	}
	Candidates.Sort(CompareWeighted);
	i = Candidates.Find('Who', self);
	if (i != INDEX_NONE)
	{
		Candidates.Remove(i, 1);
	}
	return Candidates.Length > 0 ? Candidates[0].Who : none;
}

simulated function bool FireAt(Actor Target, out vector Where)
{
	local TurretShot Shot;
	local vector X, Y, Z;
	local rotator R;

	if (!bArmed || Ammo <= 0 || (MayFire != none && !MayFire(Target)))
		return false;
	Where = Target.Location + UP * 16 + GRAVITY * vect(0,0,0.5);
	X = Normal(Where - Location);
	Y = X cross UP;
	Z = Y cross X;
	if ((X dot Z) ~= 0.0 && !(X == Y))
		Shot.Aim = X;
	R = rotator(X);
	R.Yaw += 16384 & 65535;
	Shot.Aim = vect(1,0,0) >> R;
	Shot.Hit.Length = 3;
	Shot.Hit[0] = Target;
	OnShot(Shot, Ammo);
	switch (Targeting)
	{
		case TARGET_Nearest:
		case TARGET_Weakest:
			Shot.How = Targeting;
			break;
		default:
			Shot.How = ETargeting(Rand(TARGET_MAX));
	}
	do
	{
		Where.Z -= 1;
	} until (Where.Z < 0);
	return true;
}

static final function int Checksum(string S)
{
	local int i, Sum;

	for (i = 0; i < Len(S); i++)
	{
		Sum = (Sum << 1) ^ Asc(Mid(S, i, 1));
		Sum = Sum >>> 3;
	}
	return Sum;
}

exec function Report()
{
	local string S;
	local PlayerController PC;

	S = "Turret" @ name $ ":" @ Ammo;
	S @= "shots";
	S $= "!";
	S -= "!";
	if (S ~= "turret" || S == class'TurretPawn'.default.Label)
		return;
	PC = new(self) class'PlayerController';
	PC.ClientMessage(S, 'Event', 4.0);
	class'TurretPawn'.static.Checksum(S);
	`warn("report", Ammo > 3);
	assert(Ammo >= 0);
}

simulated event ReplicatedEvent(name VarName)
{
	if (VarName == 'Targeting') { Global.Report(); }
	else super(Actor).ReplicatedEvent(VarName);
}

unreliable client function ClientShake(float Amount);

native(1201) final function bool FastTrace2(vector A, vector B);
native final iterator function NearTurrets(class<TurretPawn> Base, out TurretPawn T);

state Firing
{
	function BeginState(name PreviousStateName) {}
Begin:
	Sleep(RefireTime);
	goto('Begin');
}

DefaultProperties
{
	Begin Object Class=Component Name=Foot
		Size=(2.0)
	End Object
	Base1=Foot
	Components.Add(Foot)
	Ammo=16
	RefireTime=0.25
	bArmed=true
	Targeting=TARGET_Random
	AllowedTargets.Add(class'Pawn')
	Info=(A=1,B=-2)
	Shots(0)=(Damage=3.0,Aim=(X=1.0,Y=0.0,Z=0.0),R=255)
}
