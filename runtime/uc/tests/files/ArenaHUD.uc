/*=============================================================================
	ArenaHUD: a head-up display in the style of UDK.
	/* comments may lie in one another */
=============================================================================*/
class ArenaHUD extends HUD
	dependson(TurretPawn)
	config(Game)
	hidecategories(Object, Debug)
	ClassGroup(Interface);

struct BarStyle
{
	var() color Back, Front<DisplayName=Front color>;
	var() vector Corner;
	var() float Width, Height;
	structdefaultproperties
	{
		Width=120.0
		Height=12
		Front=(R=255,G=64,A=255)
	}
};

struct Line
{
	var string Text;
	var float Until;
	var color Tint;
};

enum EBar
{
	BAR_Health,
	BAR_Armor,
	BAR_Boost,
};

const LINE_TIME = 4.5;
const MAX_LINES = 6;
const TITLE = "Arena";

var() BarStyle Styles[EBar];
var array<Line> Lines;
var transient float Values[EBar], Shown[EBar];
var map<name, int> Hits;
var globalconfig bool bShowHits;
var private const float Fade;
var Pawn Watched;
var delegate<OnLine> LineListener;
var class<Actor> MarkerClass;

delegate OnLine(string Text, color Tint);
delegate float Easing(float From, float To, float Alpha)
{
	return From + (To - From) * Alpha;
}

event ReceiveBeginPlay()
{
	local int i;

	super.ReceiveBeginPlay();
	for (i = 0; i < BAR_MAX; i++)
		Shown[i] = Values[i];
	LineListener = OnLine;
	bShowHits = bShowHits || default.bShowHits;
}

event ReceiveTick(float DeltaSeconds)
{
	local EBar Bar;
	local int i;
	local Line One;

	Super.ReceiveTick(DeltaSeconds);
	for (i = 0; i < ArrayCount(Values); ++i)
	{
		Bar = EBar(i);
		Shown[Bar] = Easing(Shown[Bar], Values[Bar], FClamp(DeltaSeconds * 8.f, 0, 1));
	}
	for (i = Lines.Length - 1; i >= 0; i--)
	{
		Lines[i].Until -= DeltaSeconds;
		if (Lines[i].Until <= 0)
			Lines.Remove(i, 1);
	}
	foreach Lines(One, i)
	{
		if (i >= MAX_LINES)
			break;
		OnLine(One.Text, One.Tint);
	}
}

function AddLine(coerce string Text, optional color Tint = Styles[BAR_Health].Front, optional float Seconds = LINE_TIME)
{
	local Line New1;

	New1.Text = Text;
	New1.Until = Seconds;
	New1.Tint = Tint;
	Lines.InsertItem(0, New1);
	if (LineListener != none)
		LineListener(Text, Tint);
}

function float Fraction(EBar Bar)
{
	if (Watched == none)
		return 0;
	switch (Bar)
	{
		case BAR_Health: return FClamp(Watched.Health / 100.0, 0.0, 1.0);
		case BAR_Armor:  return float(Watched.Health & 0xF) / 0xF;
		default:         return Watched.Speed > 0 ? 1.0 / Watched.Speed : 0;
	}
}

event DrawHUD()
{
	local float X, Y;
	local int i;
	local Line L;
	local string S;

	super.DrawHUD();
	if (Canvas == none || Watched == none)
		return;
	X = Canvas.ClipX * 0.5;
	Y = Canvas.ClipY - 64;
	for (i = 0; i < EnumCount(EBar); i++)
	{
		Styles[i].Corner.X = X - Styles[i].Width / 2;
		Styles[i].Corner.Y = Y - i * (Styles[i].Height + 4);
		DrawBar(Styles[i], Fraction(EBar(i)));
	}
	foreach Lines(L, i)
	{
		Canvas.SetPos(16, 16 + i * 18);
		Canvas.DrawText(L.Text);
	}
	if (bShowHits)
	{
		S = TITLE $ ":" @ Hits['all'] @ "hits," @ Hits['near'] @ "near";
		Canvas.SetPos(X, 8);
		Canvas.DrawText(S);
	}
	Canvas.DrawText(Watched.Label @ "at" @ Watched.Location @ Watched.Rotation @ Watched.Phase @ GetEnum(enum'EBar', 1));
}

private function DrawBar(BarStyle Style, float Part)
{
	Canvas.SetPos(Style.Corner.X, Style.Corner.Y);
	Canvas.DrawText(Part ~= 1.0 ? "full" : string(int(Part * 100)) $ "%");
}

function Watch(Actor Other)
{
	local Controller C;

	C = Controller(Other);
	Watched = C != none ? C.Pawn : Pawn(Other);
	if (Watched != none && Watched.Class == MarkerClass)
		AddLine("watching" @ Watched.Label, , 2);
	else if (Other != none && Other.IsSelected)
		AddLine(Other);
	Hits['all']++;
}

function TurretPawn FindTurret() { return none; }

defaultproperties
{
	Fade=0.25
	MarkerClass=class'Pawn'
	Styles(BAR_Health)=(Front=(R=255,G=0,B=0,A=255),Width=200)
	Styles(1)=(Front=(R=0,G=128,B=255,A=255))
	Values[BAR_Boost]=1.0
	Scale=1.25
	Canvas=None
	bShowHits=true
	Lines(0)=(Text="welcome",Until=3.0)
	Hits=()
}
