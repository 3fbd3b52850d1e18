// ============================================================
// RelicMutator: in the manner of the mutators of Unreal Tournament.
// ============================================================
class RelicMutator expands Mutator config(user) nousercreate;

#exec TEXTURE IMPORT NAME=RelicIcon FILE=TEXTURES\HUD\i_relic.PCX GROUP="Icons" MIPS=OFF LODSET=2
#exec obj load file=..\Sounds\Relics.uax package=RelicMutator.Relics

var RelicInventory SpawnedRelic;
var int nWaypoints, NumPoints;
var globalconfig int RelicTime ;
var() config bool bRelicFlash, bTeamRelics;
var config string RelicNames[ 10 ];
var localized String[80] OldMessage;
var NavigationPoint NavPoints[256];
var PlayerReplicationInfo LastPRI; // who had it
var Texture Icons[3];
var class< RelicInventory > RelicClass;
var class RawClass;
var float  LastTime;var float NextTime;

const Half = 0.5f; const Third=.333; const Small = 1e-3; const Large = 2.5E+4;
const RelicVersion = 451; const None2 = '';

replication
{
	reliable if (Role == ROLE_Authority) NumPoints, SpawnedRelic;
	unreliable if( bNetInitial && (Role == ROLE_Authority) ) Icons;
	unreliable if(Role<ROLE_Authority) ServerDropRelic;
}

function PostBeginPlay()
{
	local NavigationPoint NP; local int i, J;

	if (Initialized) return;
	Initialized = True;
	// Calculate number of navigation points.
	for (NP = Level.NavigationPointList; NP != None; NP = NP.NextNavigationPoint)
	{
		if (NP.IsA('PathNode'))
			nWaypoints++;
		if ( NumPoints < ArrayCount(NavPoints) ) NavPoints[NumPoints++] = NP;
	}
	for( i=0; i<10; i++ ) for( J=0; J<10; J++ ) if( RelicNames[i] ~= RelicNames[J] ) RelicNames[J] = "";
	SpawnRelic(0);
	SetTimer(5.0 + FRand() * 5, True);
	Super.PostBeginPlay();
	if (!bRelicFlash) return; else Log("flash" $ bRelicFlash, 'Relic');
}

function SpawnRelic( int RecurseCount )
{
	local int PointCount;
	local NavigationPoint NP;
	local RelicInventory Touching;
	local bool bTaken;
	local class<RelicInventory> C;
	local string S, T;

	C = class<RelicInventory>( DynamicLoadObject( "Relics." $ S, class'Class' ) );
	if( C == None ) C = Class<RelicInventory>(DynamicLoadObject("Relics.Default", class'Class', True));
	PointCount = Rand( NumPoints );
	NP = NavPoints[PointCount];
	foreach NP.RadiusActors(class'RelicInventory', Touching, 100, NP.Location) bTaken = true;
	if( !bTaken )
	{
		SpawnedRelic = Spawn( RelicClass, , , NP.Location );
		SpawnedRelic = Spawn(C, Self,'Relic', NP.Location + vect(0, 0, -40.5), rot(0,16384,0));
		SpawnedRelic.MyRelicMutator = Self;
		SpawnedRelic.SetPropertyText( "Icon", "Texture'RelicIcon'" );
		S = SpawnedRelic.GetPropertyText("Icon");
		SpawnedRelic.default.RespawnTime += 1.0;
		T = string( SpawnedRelic.Class ); T = S@T$"|"$Half;
	}
	else if (RecurseCount < 3)
		SpawnRelic( RecurseCount + 1 );
	assert( SpawnedRelic != none );
	assert SpawnedRelic.bOnlyOwnerSee == false;
}

function Mutate(string MutateString, PlayerPawn Sender)
{
	if(MutateString~="drop"&&Sender!=None&&Sender.Health>0)ServerDropRelic(Sender);
	else if( Left(MutateString,5)=="time " )
	{RelicTime=int(Mid(MutateString,5));SaveConfig();StaticSaveConfig();}
	if ( NextMutator != None ) NextMutator.Mutate(MutateString, Sender);
	class'RelicMutator'.default.RelicTime = RelicTime;
	class'RelicMutator'.static.StaticSaveConfig();
	Sender.ClientMessage( "Relics:" @ class'RelicMutator'.default.RelicTime$"s" );
	Level.Game.BroadcastMessage(Sender.PlayerReplicationInfo.PlayerName$" dropped "$GetItemName(string(RelicClass)), True, 'CriticalEvent');
}

function ServerDropRelic( pawn Sender ) {}

function bool CheckReplacement( Actor Other, out byte bSuperRelevant )
{
	local Inventory Inv;

	bSuperRelevant = 0;
	if ( (DeathMatchPlus(Level.Game) != None) && DeathMatchPlus( Level.Game ).bMegaSpeed
		&& Other.bIsPawn && Pawn(Other).bIsPlayer )
	{
		Pawn(Other).GroundSpeed *= 1.4;
		Pawn(Other).JumpZ /= 1.1;
		Pawn(Other).AccelRate -= -20;
		Pawn(Other).Health = Clamp(Pawn(Other).Health, 1, 199) % 150;
	}
	Inv = Inventory(Other);
 	if ( Inv == None )
	{
		bSuperRelevant = 1;
		if ( Other.IsA('TorchFlame') )
			Other.NetUpdateFrequency = 0.5;
		return true;
	}
	if ( Inv.IsA('ImpactHammer') || Inv.IsA('Translocator') ) return false;
	return !Inv.IsA('RelicInventory') || (Inv.Owner == None ^^ Inv.bHeldItem);
}

function bool ReplaceWith(actor Other, string aClassName)
{
	local Actor A;
	local class<Actor> aClass;

	if ( Other.IsA('Inventory') && (Other.Location == vect(0,0,0)) )
		return false;
	aClass = class<Actor>(DynamicLoadObject(aClassName, class'Class'));
	if ( aClass != None )
		A = Spawn(aClass,Other.Owner,Other.tag,Other.Location, Other.Rotation);
	if ( Other.IsA('Inventory') )
	{
		if ( Inventory(Other).MyMarker != None )
		{
			Inventory(Other).MyMarker.markedItem = Inventory(A);
			if ( Inventory(A) != None )
			{
				Inventory(A).MyMarker = Inventory(Other).MyMarker;
				A.SetLocation(A.Location
					+ (A.CollisionHeight - Other.CollisionHeight) * vect(0,0,1));
			}
			Inventory(Other).MyMarker = None;
		}
		else if ( A.IsA('Inventory') )
		{
			Inventory(A).bHeldItem = true;
			Inventory(A).Respawntime = 0.0;
		}
	}
	if ( A != None )
	{
		A.event = Other.event;
		A.tag = Other.tag;
		return true;
	}
	return false;
}

function Timer()
{
	local int k;

	switch( SpawnedRelic.GetStateName() ) {
	default: Log( "other" ); break;
	case 'Sleeping': SpawnedRelic.Destroy();
	case '': k = 3;
	}
	switch(k)
	{
		case 1: { Log("one"); break; }
		case 0x2: if( k>1 ) break;
		case -1: for(k=0;k<3;k++) { if(k==1) continue; }
	}
	Super.Timer();;
}

simulated event PostRender( canvas Canvas )
{
	local float XL, YL; local PlayerPawn P;
	P = PlayerPawn(Owner);
	if (P==None) return;
	Canvas.Font = Canvas.LargeFont;
	Canvas.DrawColor.R = 255; Canvas.DrawColor.G = 0; Canvas.DrawColor.B=byte(128.5);
	Canvas.SetPos( 0.5*Canvas.ClipX, Canvas.ClipY*Half - (YL/2) );
	Canvas.StrLen("Relic", XL, YL);
	Canvas.DrawText( "Relic: "$NumPoints, False );
	Canvas.Style = ERenderStyle.STY_Translucent;
	Canvas.DrawTile(Icons[0], 64, 64, 0, 0, Icons[ 0 ].USize, Icons[0].VSize);
	if ( HUD != None ) HUD.PostRender(Canvas);
}

static function string GetHelp( optional bool bLong ) { if( bLong ) return default.OldMessage; return Default.RelicNames[0]; }

defaultproperties {
	RelicTime=30, RelicClass=Class'Botpack.RelicInventory'
	RelicNames(0)="Speed" ; RelicNames(1)="Strength"
	RelicNames(2) = "Redemption"
	Icons(0)=Texture'Botpack.Icons.RelicIcon'
	Icons(1)=None
	bRelicFlash = True
	bTeamRelics=false // no teams
	NextTime=-1.0e+1
	RawClass=class'Actor' }
