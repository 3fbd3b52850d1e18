//=============================================================================
// RocketArena: everyone gets rockets. In the style of a UT2004 mutator.
//=============================================================================
class RocketArena extends Mutator
	config(RocketArena)
	hidecategories(Display, Movement)
	placeable;

#exec OBJ LOAD FILE=..\Sounds\ArenaSounds.uax PACKAGE=RocketArena
#exec TEXTURE IMPORT NAME=ArenaIcon FILE=Textures\ArenaIcon.pcx MIPS=OFF

const VERSION = "1.2b";
const MAX_ROCKETS = 48;
const REFIRE = 0.75;

enum EArenaMode
{
	AM_Classic,
	AM_Insta,
	AM_Chaos,
};

struct PlayerRecord
{
	var PlayerController Who;
	var string LastName;
	var int Kills, Deaths;
	var float JoinTime;
	var name Weapons[4];
};

var() config EArenaMode Mode;
var() globalconfig bool bAnnounce;
var config array<string> ExcludedClasses;
var localized string ArenaDescription, ModeText[3];
var PlayerRecord Records[32];
var private int NumRecords;
var class<Weapon> ArenaWeapon;
var transient float LastCheck;
var Sound ArenaSound;
var editinline GameRules Rules;

replication
{
	reliable if ( Role == ROLE_Authority )
		Mode, bAnnounce;
	reliable if( Role<ROLE_Authority )
		ServerSetMode;
}

function PostBeginPlay()
{
	local int i;
	local string S;

	Super.PostBeginPlay();
	for ( i=0; i<ArrayCount(Records); i++ )
	{
		Records[i].Who = None;
		Records[i].JoinTime = -1;
	}
	S = "RocketArena"@VERSION@"mode"@GetEnum(enum'EArenaMode', Mode);
	log(S$" ("$Level.Title$")", 'RocketArena');
	if ( Level.NetMode != NM_Standalone )
		SetTimer(5.0, true);
}

simulated function string GetDescription()
{
	return ArenaDescription;
}

function bool AlwaysKeep(Actor Other)
{
	if ( Other.IsA('RocketLauncher') || Other.class == class'RocketAmmo' )
		return true;
	if ( NextMutator != None )
		return ( NextMutator.AlwaysKeep(Other) );
	return false;
}

function bool CheckReplacement(Actor Other, out byte bSuperRelevant)
{
	bSuperRelevant = 0;
	if ( Weapon(Other) != None && !Other.IsA('RocketLauncher') )
	{
		ReplaceWith(Other, "XWeapons.RocketLauncher");
		return false;
	}
	else if ( xPickUpBase(Other) != None )
	{
		switch ( Mode )
		{
			case AM_Classic:
				xPickUpBase(Other).PowerUp = None;
				break;
			case AM_Insta:
			case AM_Chaos:
				Other.bHidden = true;
				break;
			default:
				log("odd mode"@Mode);
		}
	}
	return true;
}

function ModifyPlayer(Pawn Other)
{
	local Inventory Inv;
	local vector Spot;
	local rotator Dir;

	Spot = Other.Location + vect(0,0,64) + 32 * vector(Other.Rotation);
	Dir = Rot(0,16384,0);
	for ( Inv=Other.Inventory; Inv!=None; Inv=Inv.Inventory )
		if ( Weapon(Inv) != None )
			Weapon(Inv).MaxOutAmmo();
	if ( VSize(Spot - Other.Location) > 100.0 )
		Other.SetRotation(Dir);
	Super.ModifyPlayer(Other);
}

function Timer()
{
	local Controller C;

	for ( C=Level.ControllerList; C!=None; C=C.NextController )
	{
		if ( PlayerController(C) == None || C.Pawn == None )
			continue;
		if ( Level.TimeSeconds - LastCheck > REFIRE )
			PlayerController(C).ClientMessage("Still"@C.Pawn.Health@"health left");
	}
	foreach AllActors(class'Controller', C)
	{
		if ( C.bIsPlayer )
			break;
	}
	LastCheck = Level.TimeSeconds;
}

reliable server function ServerSetMode(EArenaMode NewMode)
{
	if ( NewMode == Mode )
		return;
	Mode = NewMode;
	SaveConfig();
}

static function FillPlayInfo(PlayInfo PlayInfo)
{
	Super.FillPlayInfo(PlayInfo);
	PlayInfo.AddSetting(default.RulesGroup, "Mode", default.ArenaDescription, 0, 1, "Select", "AM_Classic;Classic");
}

final operator(20) string + (string A, string B)
{
	return A $ B;
}

latent native(261) final function WaitForLanding();

auto state Waiting
{
	function Timer()
	{
		GotoState('Playing');
	}
Begin:
	Sleep(1.0);
	goto 'Begin';
}

state Playing extends Waiting
{
	ignores Touch, Bump;

	event BeginState()
	{
		bAnnounce = !bAnnounce;
	}
}

cpptext
{
	void Tick( float DeltaSeconds ) { if (x) { y = '}'; } } // }
}

defaultproperties
{
	FriendlyName="Rocket Arena"
	Description="Every weapon is a rocket launcher."
	GroupName="Arena"
	Mode=AM_Insta
	bAnnounce=True
	ExcludedClasses(0)="XWeapons.Redeemer"
	ExcludedClasses(1)="XWeapons.Painter"
	ArenaWeapon=class'XWeapons.RocketLauncher'
	ArenaSound=Sound'ArenaSounds.Announcer.Go'
	ModeText(0)="classic"
	ModeText(1)="insta"
	ModeText(2)="chaos"
	Begin Object Class=GameRules Name=TheRules
		bEnabled=true
	End Object
	Rules=GameRules'RocketArena.TheRules'
	IconMaterialName="MutatorArt.nosym"
}
