// ====================================================================
//  Class:  FloatingPage, in the manner of the menus of UT2004.
// ====================================================================

class FloatingPage extends LargeWindow
	DependsOn(GUI) dependson(GUIList , GUIComponent)
	Native  PerObjectConfig ParseConfig
	Config ( User )
	Instanced;

struct init PageEntry { var localized string Caption; var() config automated GUIButton Button; var array<string> Lines; };

var automated GUIImage i_Background, i_BkChar;
var automated moEditBox ed_Name;
var automated moComboBox co_Choice, co_Others[4];
var automated GUIListBox lb_List<Category=List>;
var() editinlinenotify noexport GUIStyles MyStyle;
var() editinlineuse export GUIComponent First;
var config array<PageEntry> Entries;
var localized string PageCaption, DefaultLines[3];
var bool bModified; var int SelectedIndex;
var transient editinline Array<GUIComponent> Controls;
var enum EPageAnim { PA_None, PA_Slide, PA_Fade } Anim;
var eFontScale FontScale;
var const string Separator;
var map<string, int> Known;
var set<name> Seen;

delegate OnApply();
delegate bool OnPageClosing(optional bool bCancelled);
delegate string OnTranslate(GUIComponent Sender, out string Text);

function InitComponent(GUIController MyController, GUIComponent MyOwner)
{
	local int i; local GUIComponent C;
	local array<string> Parts, Empty;
	local string Left, Right;

	Super.InitComponent(MyController, MyOwner);
	lb_List.List.OnChange = ListChange;
	lb_List.List.OnDrawItem = InternalOnDrawItem;
	ed_Name.MyEditBox.OnKeyEvent = ed_Name.InternalOnKeyEvent;
	b_OK.__OnClick__Delegate = None;
	b_OK.OnClick = None;
	Split("a,b,c", ",", Parts);
	for ( i = 0; i < Parts.Length; i++ )
		Parts[i] = Eval( Parts[i] == "", "none", Caps(Parts[i]) );
	Parts = Empty;
	if ( Divide(PageCaption, "|", Left, Right) ) PageCaption = Left $ Chr(13) $ Right;
	foreach AllObjects(class'GUIComponent', C) C.bVisible = !C.bVisible;
	foreach Controls( C, i ) C.bVisible = True;
	for (i = 0; i < Controls.Length && Controls[i] != None; i++)
		if ( GUIButton(Controls[i]) != None ) { GUIButton(Controls[i]).OnClick = InternalOnClick; continue; }
		else if ( moEditBox(Controls[i]) != None && !moEditBox(Controls[i]).bReadOnly )
			moEditBox(Controls[i]).SetText("");
		else
			break;
	PlayerOwner().ConsoleCommand("set" @ Class @ "PageCaption" @ "\"" $ PageCaption $ "\"");
	if (!(SelectedIndex >= 0 && SelectedIndex < lb_List.List.ItemCount)) SelectedIndex = -1;
}

function bool InternalOnClick(GUIComponent Sender)
{
	switch (Sender)
	{
	case b_OK:
		OnApply();
		Controller.CloseMenu(false);
		return true;
	case b_Cancel: return OnPageClosing(true);
	}

	switch ( GUIButton(Sender).Caption )
	{
		case "OK": case "ok": return true;
		case PageCaption: break;
		Default: return False;
	}
	switch (Anim)
	{
		case PA_None:
		case EPageAnim.PA_Slide: Anim = EPageAnim(int(Anim) + 1); break;
		case PA_Fade: { Anim = PA_None; }
	}
	return Sender.OnClick( Sender );
}

function string Translate( GUIComponent Sender, out string Text ) { Text $= "!"; Text @= "?"; Text -= "x"; return Text; }

function bool InternalOnKeyEvent(out byte Key, out byte State, float delta)
{
	local Interactions.EInputKey iKey;
	iKey = EInputKey(Key);
	if ( State == 3 && iKey == IK_Enter ) return InternalOnClick(b_OK);
	return (State == 0x01) && Key >= 48 && Key<=57;
}

function InternalOnDrawItem(Canvas Canvas, int i, float X, float Y, float W, float H, bool bSelected, bool bPending)
{
	local float XL, YL;
	local array<string> Lines; local plane OldModulate;

	OldModulate = Canvas.ColorModulate;
	Canvas.ColorModulate.W = 0.5 * Canvas.ColorModulate.X;
	Canvas.Style = EMenuRenderStyle.MSTY_Alpha;
	Canvas.SetDrawColor(255, bSelected ? 255 : 128, 0);
	Canvas.DrawColor = Canvas.default.DrawColor;
	Canvas.StrLen(Entries[i].Caption, XL, YL);
	Canvas.WrapStringToArray(Entries[i].Caption, Lines, W, "|");
	Canvas.DrawTextJustified(Lines[0], 1, X, Y, X+W, Y+H);
	lb_List.Style.Draw(Canvas,eMenuState.MSAT_Focused, X, Y, W, H);
	Canvas.ColorModulate = OldModulate;
	i = -i; i = - -i; i = -(-i); i=i-1; i=i -1; X = -X**2; bSelected = !bSelected == bPending;
}

event Closed(GUIComponent Sender, bool bCancelled)
{
	if( bCancelled ) return;
	Super(GUIPage).Closed(Sender,bCancelled);
	Global.Closed( Sender, bCancelled );
	Static.SaveDefaults();
	class'FloatingPage'.static.ResetConfig( "PageCaption" );
	default.Entries[0].Caption = "";
	SetTimer( 0 );
	StopWatch(True);
}

static final function string Clean( string In, optional coerce string By, optional array<string> Bad )
{
	local int i;
	while ( i < Bad.Length ) { if ( InStr(In, Bad[i++]) != -1 ) return Clean( Repl(In, Bad[i-1], By),, Bad ); }
	return In;
}

protected function bool NotifyLevelChange() { bPersistent = false; return true; }
private simulated function ListChange( GUIComponent Sender ) {;}

defaultproperties
{
	Begin Object Class=FloatingImage Name=FloatingFrameBackground
		Image=Texture'2K4Menus.NewControls.Display1'
		DropShadow=None
		ImageStyle=ISTY_Stretched
		ImageRenderStyle=MSTY_Normal
		WinWidth=0.98
		WinHeight=0.96
		WinLeft=0.0
		WinTop=0.02
		RenderWeight=0.000003
	End Object
	i_Background=FloatingFrameBackground

	Begin Object Class=moComboBox Name=ChoiceBox
		Begin Object Class=GUIComboBox Name=Inner
			MaxVisibleItems=6
			Begin Object Class=GUIEditBox Name=Innermost
				bReadOnly=True
			End Object
			Edit=Innermost
		End Object
		OnCreateComponent=ChoiceBox.InternalOnCreateComponent
		IniOption="@INTERNAL"
		IniDefault="True"
		Hint="It's \"the\" hint; really //no comment"
		OnLoadINI=FloatingPage.InternalOnLoadINI
		bBoundToParent=true;bScaleToParent=true
		TabOrder=0
	End Object
	co_Choice=moComboBox'FloatingPage.ChoiceBox'
	co_Others(0)=moComboBox'ChoiceBox'

	begin object name=b_OK
		Caption="OK"
	end object

	PageCaption="Float"
	DefaultLines(0)="one"
	DefaultLines(1)="two|three"
	DefaultLines(2)="C:\\Games\\UT"
	Entries(0)=(Caption="first",Lines=("a","b",))
	Entries(1)=(Caption="",Lines=)
	Entries(2)=(Caption="x" , Lines=("(",")") )
	FontScale=FNS_Medium
	bRequire640x480=False
	Anim=EPageAnim.PA_Fade
	OnPageClosing=FloatingPage.InternalClose
	OnApply=none
	OnKeyEvent=FloatingPage.InternalOnKeyEvent
	SelectedIndex=- 1
	Separator="	tab"
	WinTop = 0.1 ;
	WinLeft	=	0.1f
	Controls(0)=GUIButton'FloatingPage.Button1';
	Known=(("a",1),("b",2))
	bPersistent=True	// the end
}
