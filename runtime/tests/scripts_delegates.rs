//! Tests delegates of scripts. Scripts, the host and defaults bind them. The bindings are kept across edits and while objects are dormant.

use alcedo_runtime::native::{Delegate, MulticastDelegate, uclass};
use alcedo_runtime::{Runtime, Value, natives};

use crate::scripts::{Package, builder, call, get, host_of, reload_of, spawn};
use crate::support;

/// Button of the host, which scripts extend.
#[uclass(package = "Test", blueprintable)]
#[derive(Default)]
struct Button {
    /// Delegate for each press.
    #[uproperty(blueprint_read_write)]
    on_press: MulticastDelegate<fn(i32)>,
}

#[test]
fn a_broadcast_of_the_host_skips_bindings_that_a_script_removes() {
    let text = "class Panel extends Button;
        var int Sum;
        function Removes(int n) { Sum += n; on_press.Remove(Last); }
        function Clears(int n) { Sum += n; on_press.Clear(); }
        function Last(int n) { Sum += 100 * n; }";
    let package = Package::new("Tale", &[("Panel.uc", text)]);
    let host = host_of(builder().natives(natives![Button]), &package);
    for first in ["Removes", "Clears"] {
        let panel = spawn(&host, "/Script/Tale.Panel");
        for function in ["Last", first] {
            host.links().bind(panel, "on_press", panel, function).unwrap_or_else(|error| panic!("{error}"));
        }
        // Calls the newest binding first.
        host.links().broadcast(panel, "on_press", &[Value::I32(2)]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(get(&host, panel, "Sum"), Value::I32(2), "{first}");
    }
}

#[test]
fn a_default_of_none_is_a_multicast_delegate_without_bindings() {
    let package =
        Package::new("Tale", &[("Panel.uc", "class Panel extends Button;\ndefaultproperties { on_press=none }")]);
    let host = host_of(builder().natives(natives![Button]), &package);
    let panel = spawn(&host, "/Script/Tale.Panel");
    assert_eq!(get(&host, panel, "on_press"), Value::Multicast(Vec::new()));
}

#[test]
fn delegates_call_no_dormant_objects_until_they_wake() {
    let panel = "class Panel extends Button;
        var int Sum;
        delegate int OnAsk(int n);
        var delegate<OnAsk> Kept;
        delegate int OnOrder(int a, int b);
        var delegate<OnOrder> Order;
        function int Down(int a, int b) { return a - b; }
        function int Sorts(int n) { local array<int> a; a.AddItem(1); a.AddItem(n); a.Sort(Order); return a[0]; }
        function int Ask(int n) { return n; }
        function int Asks(int n) { return Kept(n); }
        function Adds(int n) { Sum += n; }
        function int Presses(int n) { on_press.Broadcast(n); return Sum; }";
    let kid = "class Kid extends Panel;
        function int Ask(int n) { return 10 * n; }
        function AddsTen(int n) { Sum += 10 * n; }";
    let package = Package::new("Tale", &[("Panel.uc", panel), ("Kid.uc", kid)]);
    let host = host_of(builder().natives(natives![Button]), &package);
    let [panel, sleeper] = ["/Script/Tale.Panel", "/Script/Tale.Kid"].map(|class| spawn(&host, class));
    for (listener, function) in [(sleeper, "AddsTen"), (sleeper, "Adds"), (panel, "Adds")] {
        host.links().bind(panel, "on_press", listener, function).unwrap_or_else(|error| panic!("{error}"));
    }
    for (delegate, function) in [("Kept", "Ask"), ("Order", "Down")] {
        host.links().bind(panel, delegate, sleeper, function).unwrap_or_else(|error| panic!("{error}"));
    }
    let held: Delegate<fn(i32) -> i32> =
        host.links().delegate(sleeper, "Ask").unwrap_or_else(|error| panic!("{error}"));
    package.remove("Kid.uc");
    let plain = "function Adds(int n)";
    let with_equal_name = "function AddsTen(string s) { Sum = 99; }\nfunction Adds(int n)";
    package.edit("Panel.uc", plain, with_equal_name);
    reload_of(&host, &package);
    for function in ["Asks", "Sorts"] {
        let error = host.objects().call(panel, function, &[Value::I32(4)]).expect_err("the object is dormant");
        assert!(error.to_string().contains("is bound to a dormant object"), "{error}");
    }
    let error = held.call(host.world(), (4,)).expect_err("the object is dormant").to_string();
    assert!(error.contains("is bound to a dormant object"), "{error}");
    assert_eq!(call(&host, panel, "Presses", &[Value::I32(2)]), Some(Value::I32(2)));
    host.links().broadcast(panel, "on_press", &[Value::I32(3)]).unwrap_or_else(|error| panic!("{error}"));
    let arguments = [get(&host, panel, "on_press"), Value::I32(4)];
    host.calls().call("nd:/", &arguments).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!([panel, sleeper].map(|object| get(&host, object, "Sum")), [9, 0].map(Value::I32));
    package.edit("Panel.uc", with_equal_name, plain);
    package.write("Kid.uc", kid);
    reload_of(&host, &package);
    assert_eq!(call(&host, panel, "Presses", &[Value::I32(1)]), Some(Value::I32(10)));
    assert_eq!(get(&host, sleeper, "Sum"), Value::I32(11), "both bindings are kept");
    assert_eq!(call(&host, panel, "Asks", &[Value::I32(4)]), Some(Value::I32(40)));
    assert_eq!(call(&host, panel, "Sorts", &[Value::I32(4)]), Some(Value::I32(4)));
    assert_eq!(held.call(host.world(), (4,)).unwrap_or_else(|error| panic!("{error}")), 40);
}

/// Class with a delegate, and with functions to which a default can bind it.
const BUTTON_TEXT: &str = "class Button extends Actor;
    delegate OnClick(int Times);
    var int Clicked;
    function Clicks(int Times) { Clicked += Times; }
    function Doubles(int Times) { Clicked += 2 * Times; }
    function int Press(int Times) { OnClick(Times); return Clicked; }
    defaultproperties
    {
        Clicked=0
    }";

/// Class with a subobject of the class `Button`, whose delegate a default can bind to a function of the owner.
const PAGE_TEXT: &str = "class Page extends Actor;
    var Button Save;
    var int Saved;
    function Saves(int Times) { Saved += Times; }
    function int Press(int Times) { Save.Press(Times); return Saved; }
    defaultproperties
    {
        Begin Object Class=Button Name=Pressed
            Clicked=0
        End Object
        Save=Pressed
    }";

#[test]
fn an_object_of_defaults_calls_the_functions_of_its_owner() {
    let page = PAGE_TEXT.replace("Clicked=0", "OnClick=Saves");
    let package = Package::new("Tale", &[("Button.uc", BUTTON_TEXT), ("Page.uc", &page)]);
    let host = host_of(builder(), &package);
    let [one, other] = [(); 2].map(|()| spawn(&host, "/Script/Tale.Page"));
    assert_eq!(call(&host, one, "Press", &[Value::I32(3)]), Some(Value::I32(3)));
    assert_eq!(call(&host, other, "Press", &[Value::I32(1)]), Some(Value::I32(1)), "each has its own");
}

#[test]
fn objects_follow_a_new_default_of_a_delegate_with_their_own_functions() {
    let package = Package::new("Tale", &[("Button.uc", BUTTON_TEXT), ("Page.uc", PAGE_TEXT)]);
    let host = host_of(builder(), &package);
    let spawn_both = || ["/Script/Tale.Button", "/Script/Tale.Page"].map(|class| spawn(&host, class));
    let [button, page] = spawn_both();
    let press = |object, times| call(&host, object, "Press", &[Value::I32(times)]);
    package.edit("Page.uc", "Clicked=0", "OnClick=Saves");
    reload_of(&host, &package);
    assert_eq!(press(page, 2), Some(Value::I32(2)), "the subobject calls its owner");
    package.edit("Button.uc", "Clicked=0", "OnClick=Clicks");
    reload_of(&host, &package);
    assert_eq!((press(button, 3), press(page, 3)), (Some(Value::I32(3)), Some(Value::I32(5))));
    package.edit("Button.uc", "OnClick=Clicks", "OnClick=Doubles");
    reload_of(&host, &package);
    assert_eq!(press(button, 2), Some(Value::I32(7)), "it has followed the default");
    let [button, page] = spawn_both();
    let counts = (get(&host, button, "Clicked"), get(&host, page, "Saved"));
    assert_eq!(counts, (Value::I32(0), Value::I32(0)), "no call has changed a class default object");
}

const BELL_TEXT: &str = r#"
class Bell extends Object;

var int Rung;
var delegate<OnRing> Kept;

delegate int OnRing(int Times);

function int Ring(int Times)
{
    Rung += Times;
    return Rung;
}

function Bind()
{
    Kept = Ring;
}

function int Run(int Times)
{
    if (Kept == none)
    {
        return -1;
    }
    return Kept(Times);
}
"#;

#[test]
fn a_kept_delegate_calls_the_new_body_or_fails_without_its_function() {
    let package = Package::new("Tale", &[("Bell.uc", BELL_TEXT)]);
    let host = host_of(builder(), &package);
    let bell = spawn(&host, "/Script/Tale.Bell");
    let run = || host.objects().call(bell, "Run", &[Value::I32(2)]);
    call(&host, bell, "Bind", &[]);
    assert_eq!(run().expect("it is bound"), Some(Value::I32(2)));
    package.edit("Bell.uc", "Rung += Times;", "Rung += 10 * Times;");
    reload_of(&host, &package);
    assert_eq!(run().expect("it is bound still"), Some(Value::I32(22)));
    package.edit("Bell.uc", "function int Ring(", "function int Rang(");
    package.edit("Bell.uc", "Kept = Ring;", "Kept = Rang;");
    reload_of(&host, &package);
    let answer = run().map_err(|error| error.to_string());
    assert!(
        answer.as_ref().is_ok_and(|value| *value == Some(Value::I32(-1)))
            || answer.as_ref().is_err_and(|text| text.contains("Ring")),
        "{answer:?}"
    );
    assert_eq!(get(&host, bell, "Rung"), Value::I32(22), "no other function was called");
    call(&host, bell, "Bind", &[]);
    assert_eq!(run().expect("it is bound again"), Some(Value::I32(42)));
}

#[test]
fn a_delegate_to_a_static_function_calls_its_new_body() {
    let text = BELL_TEXT.replace("function int Ring(int Times)\n{\n    Rung += Times;\n    return Rung;", STATIC_RING);
    let package = Package::new("Tale", &[("Bell.uc", &text)]);
    let host = host_of(builder(), &package);
    let bell = spawn(&host, "/Script/Tale.Bell");
    let run = || host.objects().call(bell, "Run", &[Value::I32(2)]).expect("it returns");
    call(&host, bell, "Bind", &[]);
    assert_eq!(run(), Some(Value::I32(4)));
    package.edit("Bell.uc", "return Times * 2;", "return Times * 30;");
    reload_of(&host, &package);
    assert_eq!(run(), Some(Value::I32(60)), "it is bound still");
    host.collection().collect().expect("a safe point");
    assert_eq!(run(), Some(Value::I32(60)), "it is not collected");
    package.edit("Bell.uc", "static function int Ring(", "static function int Rang(");
    package.edit("Bell.uc", "Kept = Ring;", "Kept = Rang;");
    reload_of(&host, &package);
    assert_eq!(run(), Some(Value::I32(-1)), "the function is gone");
}

#[test]
fn a_saved_delegate_is_bound_to_the_static_function_of_its_own_class() {
    let text = BELL_TEXT.replace("function int Ring(int Times)\n{\n    Rung += Times;\n    return Rung;", STATIC_RING);
    let tale = Package::new("Tale", &[("Bell.uc", &text)]);
    let saga = Package::new("Saga", &[("Bell.uc", &text.replace("Times * 2", "Times * 3"))]);
    let folders = [tale.folder.clone(), saga.folder.clone()];
    let host = || support::host_of(builder().package("Saga"), &folders);
    let first = host();
    let paths = ["/Script/Tale.Bell", "/Script/Saga.Bell"].map(|class| {
        let bell = spawn(&first, class);
        call(&first, bell, "Bind", &[]);
        first.objects().path_of(bell).expect("it is alive")
    });
    let folder = tempfile::tempdir().expect("a folder");
    let world = folder.path().join("world");
    first.worlds().save(&world).expect("it is saved");
    let check = |host: &Runtime| {
        let report = host.worlds().load(&world).unwrap_or_else(|error| panic!("{error}"));
        let bells = paths.each_ref().map(|path| host.objects().at_path(path).expect("it was loaded"));
        let rung = bells.map(|bell| call(host, bell, "Run", &[Value::I32(2)]));
        assert_eq!(rung, [4, 6].map(|times| Some(Value::I32(times))), "{report}");
    };
    check(&first);
    tale.remove("Bell.uc");
    tale.write("Chime.uc", &text.replace("class Bell extends", "class Chime<Was=Bell> extends"));
    check(&host());
}

const STATIC_RING: &str = "static function int Ring(int Times)\n{\n    return Times * 2;";
