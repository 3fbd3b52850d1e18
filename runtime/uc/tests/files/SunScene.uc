/**
 * SunScene: in the manner of the user interface scenes of UE3.
 */
class SunScene extends UIScene
	within SunClient
	native(inherit)
	perobjectconfig
	placeable
	transient
	autocollapsecategories(Style)
	dontcollapsecategories(Data)
	implements(UIDataStoreSubscriber,
		UIStringRenderer)
	deprecated;

enum ESceneDock { DOCK_None, DOCK_Left, DOCK_Right, DOCK_MAX_Real };

struct native transient SceneWidget
{
	var() instanced editinlinenotify editconst noclear UIObject Widget;
	var array<name> Keys;
	var{private} const int Raw;
	var() struct native InnerStyle { var() name Tag; var LinearColor Tint; } Style;
};

struct native export UIDataStoreBinding { var() string Markup; var const transient UIDataStore Store; };
struct TwoDim extends Object.Vector { };

var	transient	const	native	private	noexport	pointer	VfTable_FTickable;
var()	instanced	array<SceneWidget>	Widgets;
var(Data) UIDataStoreBinding Binding;
var Map_Mirror Lookup{TMap<FString,FVector>};
var native const map{FName, class UObject*} Registry;
var UIObject.EWidgetFace Faces[EUIWidgetFace];
var const localized string LTitle, LBody;
var(Sound) name OpenCue, CloseCue;
var bool bOpen:1;
var SunClient Client; var OuterScene Parent;
var class<UIObject> WidgetClass<AllowAbstract>;
var() archetype UIObject Template;
var() noclear int Unset<NoClear>;
var delegate<OnOpened> SavedOpened;
var array<delegate<UIObject.OnClicked> > ClickHandlers;

`define BuiltWidgets(Kind, Count) \
	for ( `{Count} = 0; `Count < Widgets.Length; `Count++ ) \
	{ \
		`Kind(Widgets[`Count].Widget); \
	}

delegate OnOpened(SunScene Scene, bool bFirst);
delegate bool OnKey(const out InputEventParameters Params);
delegate private static OnOdd();

native final function bool AddWidget(UIObject Widget, optional INT Index=INDEX_NONE);
native final noexport function UIObject FindWidget(name Tag, optional bool bDeep) const;
event bool NotifyGameSessionEnded();
final event PlayCue(name Cue, optional int PlayerIndex=0) { if (Cue != '') { PlayUISound(Cue, PlayerIndex); } }
event PostInitialize()
{
	local int Idx, W, Count;
	local SceneWidget Loc;
	local array<SceneWidget> Copy;
	local UIObject Obj;
	local GameUISceneClient GameClient;
	local array<int> Ints[2];

	Super.PostInitialize();
	Copy = Widgets;
	`BuiltWidgets(UILabel, Idx)
	for (Idx = 0; Idx < Copy.length; Idx++)
	{
		Obj = Copy[Idx].Widget;
		if (Obj == None || UILabel(Obj) == None && UIImage(Obj) == None)
		{
			continue;
		}
		Obj.OnClicked = HandleClicked;
		Obj.SetVisibility(Idx == 0 || (Idx & 1) == 1);
		Loc.Style.Tag = Obj.WidgetTag;
		Loc.Keys[Loc.Keys.Length] = Obj.Name;
		W += int(Obj.GetPosition(UIFACE_Right, EVALPOS_PixelViewport, true)) - int(Obj.GetBounds(UIORIENT_Horizontal));
	}
	Count = Copy.Find('Widget', Obj);
	GameClient = GetSceneClient();
	GameClient = GameUISceneClient(Outer);
	GameClient.FindSceneByTag('Sun', LocalPlayer(GameClient.GamePlayers[0])).CloseScene(Self, true,, false);
	Outer.CloseScene(self);
	Client = Outer;
	class'UIRoot'.static.GetUniverse();
	class'Engine'.static.GetEngine().GameViewport.ConsoleCommand("quit");
	if (OnKey != None && OnOpened == none) OnOpened(self, false);
	SavedOpened = OnOpened;
	OnOpened = GameClient.OnSceneOpened;
	ClickHandlers.AddItem(HandleClicked);
	SetTimer(1.0, false, 'Done', self);
	UIDataStore_Strings(StaticResolveDataStore('Strings')).SetString("<Strings:Sun.Title>", LTitle);
	Ints[0].Length = 4;
	`log(`location@"opened"@`showenum(ESceneDock,Count)@ParseLocalizedPropertyPath("<Sun>"),,'DevUI');
}

function bool HandleClicked(UIScreenObject EventObject, int PlayerIndex)
{
	local bool bResult;
	switch (EventObject.WidgetTag)
	{
		case 'Ok':
			bResult = true;
		case 'Cancel':
			CloseScene(self);
			bResult = !bResult || bResult;
			break;
		case 'Help': if (bResult) break; else bResult = true;
		default:
			`log("other");
	}
	switch (PlayerIndex) { }
	switch (int(EventObject.IsA('UILabel'))) { case 1: return false; case 0: return true; }
	return bResult ? (PlayerIndex == 0) : HandleClicked(EventObject, PlayerIndex - 1);
}

static final function ESceneDock OppositeDock(ESceneDock Dock)
{
	return (Dock == DOCK_Left) ? DOCK_Right : ((Dock == DOCK_Right) ? DOCK_Left : DOCK_None);
}

function OnLoaded(const out OnlineGameSearchResult Found, array<byte> Payload) { SendBytes(Payload[0], Found.GameSettings.NumOpen); }
function SendBytes(coerce byte B, out const int N);
function WorldInfo GetWorld() { return class'WorldInfo'.static.GetWorldInfo(); }
static function Main(array<string> args) {}
singular event SceneActivated(bool bInitial);

defaultproperties
{
	Begin Object Class=UIComp_DrawString Name=TitleString
		StringStyle=(DefaultStyleTag="DefaultTitle",RequiredStyleClass=class'Engine.UIStyle_Combo')
		AutoSizeParameters[0]=(bAutoSizeEnabled=true)
		bIgnoreMarkup=(true)
	End Object
	TitleRenderer=TitleString

	Begin Object Class=UIPanel Name=Root
		Position={(
			Value[0]=0.1,
			Value[1]=0.2,
			ScaleType[0]=EVALPOS_PercentageOwner
		)}
		Begin Object Class=UILabel Name=Label0
			DataSource=(MarkupString="<Strings:Sun.Title>",RequiredFieldType=DATATYPE_Property)
			Begin Object Class=UIComp_DrawCaption Name=Caption0
				bWrap=True
			End Object
			StringRenderComponent=Caption0
		End Object
		Children.Add(Label0)
		Children(1)=UILabel'SunScene.Root:Label0'
	End Object
	Children.Add(Root)
	DefaultEvents.Add((BlockTemplate=UIEvent_Initialized'Engine.Default__UIEvent_Initialized',EventType=class'Engine.UIEvent_Initialized'))
	DefaultEvents.Add((EventClass=class'UIEvent_OnEnter', bEnabled=TRUE))

	Widgets(0)=(Widget=Root,Keys=(A,B,'C D'),Style=(Tag=Big,Tint=(R=1.0,G=.5,B=0,A=1)))
	Widgets(1)=(
		Widget=None,
		Keys={(
			First,
			Second
		)},
	)
	Binding=(Markup="<A:B.C>")
	LTitle="Sun"
	LBody="one\ntwo"
	OpenCue=SceneOpened
	CloseCue='Scene Closed'
	Unset=0xFFFFFFFF
	WidgetClass=class'UILabel'
	SavedOpened=HandleOpened
	SceneInputMode=INPUTMODE_Free
	bPauseGameWhileActive=FALSE
	Faces(UIFACE_Left)=UIFACE_Right
	Faces[EUIWidgetFace.UIFACE_Top]=UIFACE_Bottom
}
