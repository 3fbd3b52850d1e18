//! Tests interfaces and overridden static functions in script packages, in a running host. Covers several packages, reloads, and a class
//! that no longer has the functions of its interface.

use std::fs;
use std::path::PathBuf;

use alcedo_runtime::{ObjectHandle, Outcome, ReloadReport, Runtime, Value};

use crate::support;

const LOUD: &str = "interface Loud extends Named;\n\nfunction string Shout(int Times);\n";
const NAMED: &str = "/** What has a name. */\ninterface Named;\n\nfunction string Called();\n";
const HORN: &str = r#"
class Horn extends Actor implements(Loud);

var int Blown;

function string Called() { return "horn"; }
function string Shout(int Times) { Blown += Times; return "toot" @ Blown; }
static function int Pitch() { return 3; }
static function int Twice() { return 2 * Pitch(); }
"#;
const TUBA: &str = "class Tuba extends Horn;\n\nstatic function int Pitch() { return 1; }\n";
const BAND: &str = r#"
class Band extends Actor;

var Named Last;

function string Play(Actor Who)
{
    local Loud L;

    L = Loud(Who);
    Last = Named(L);
    return L == none ? "silence" : L.Called() $ ":" @ L.Shout(2);
}

function int Pitches() { return class'Horn'.static.Twice() * 10 + class'Tuba'.static.Twice(); }
"#;

/// Host with two packages. The second package depends on the first.
struct Stage {
    dir: tempfile::TempDir,
    host: Runtime,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let files = [
            ("Brass/Loud.uc", LOUD),
            ("Brass/Named.uc", NAMED),
            ("Brass/Horn.uc", HORN),
            ("Brass/Tuba.uc", TUBA),
            ("Town/Band.uc", BAND),
        ];
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let host = support::builder().package("Brass").package("Town").build().expect("a host");
        let stage = Self { dir, host };
        stage.host.create_master(&stage.modules()).unwrap_or_else(|error| panic!("{error}"));
        stage
    }

    fn modules(&self) -> Vec<PathBuf> {
        ["Town", "Brass"].map(|name| self.dir.path().join(name)).to_vec()
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.dir.path().join(name);
        let text = fs::read_to_string(&path).expect("there");
        assert!(text.contains(from), "{name} has {from}");
        fs::write(path, text.replace(from, to)).expect("written");
    }

    fn try_reload(&self) -> ReloadReport {
        self.host.reload_changed(&self.modules()).expect("a Master")
    }

    fn reload(&self) -> ReloadReport {
        self.try_reload().into_result().unwrap_or_else(|report| panic!("{report}"))
    }

    fn spawn(&self, class: &str) -> ObjectHandle {
        self.host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
    }

    fn call(&self, object: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
        self.host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{error}"))
    }

    fn play(&self, band: ObjectHandle, player: ObjectHandle) -> String {
        match self.call(band, "Play", &[Value::Object(player)]) {
            Some(Value::Text(text)) => text.to_string(),
            other => panic!("{other:?} is not a string"),
        }
    }
}

#[test]
fn a_package_calls_through_the_interface_of_another_and_follows_its_reloads() {
    let stage = Stage::new();
    let (band, horn) = (stage.spawn("/Script/Town.Band"), stage.spawn("/Script/Brass.Horn"));
    assert_eq!(stage.play(band, horn), "horn: toot 2");
    assert_eq!(stage.play(band, band), "silence");
    // Adds a function to the interface and its class, and adds an optional parameter to another function in both.
    stage.edit("Brass/Loud.uc", "Shout(int Times)", "Shout(int Times, optional bool Softly);\nfunction Rest()");
    stage.edit("Brass/Horn.uc", "Shout(int Times)", "Shout(int Times, optional bool Softly)");
    stage.edit("Brass/Horn.uc", "var int Blown;", "var int Blown;\n\nfunction Rest() { Blown = 0; }");
    stage.edit("Brass/Horn.uc", "toot", "tut");
    let report = stage.reload();
    assert_eq!(report.modules.len(), 2, "{report}");
    assert_eq!(stage.play(band, horn), "horn: tut 4");
    stage.edit("Town/Band.uc", "L.Shout(2)", "L.Shout(2, true)");
    stage.reload();
    assert_eq!(stage.play(band, horn), "horn: tut 6");
}

#[test]
fn a_call_by_the_name_of_an_interface_function_follows_a_change_of_its_parameters() {
    let stage = Stage::new();
    let horn = Value::Object(stage.spawn("/Script/Brass.Horn"));
    let shout = |arguments: &[Value]| {
        let shouted = stage.host.calls().call("uf:/Script/Brass.Loud:Shout", arguments);
        shouted.unwrap_or_else(|error| panic!("{error}"))
    };
    assert_eq!(shout(&[horn.clone(), Value::I32(1)]), Some(Value::Text("toot 1".to_owned())));
    for file in ["Brass/Loud.uc", "Brass/Horn.uc"] {
        stage.edit(file, "Shout(int Times)", "Shout(int Times, bool Softly)");
    }
    stage.edit("Town/Band.uc", "L.Shout(2)", "L.Shout(2, true)");
    stage.reload();
    assert_eq!(shout(&[horn, Value::I32(2), Value::Bool(true)]), Some(Value::Text("toot 3".to_owned())));
}

#[test]
fn a_class_not_implementing_its_interface_is_refused_and_the_old_remains() {
    let stage = Stage::new();
    let (band, horn) = (stage.spawn("/Script/Town.Band"), stage.spawn("/Script/Brass.Horn"));
    let before = stage.host.worlds().digest();
    stage.edit("Brass/Named.uc", "Called()", "Called(int How)");
    let report = stage.try_reload();
    assert!(matches!(report.outcome, Outcome::RolledBack { .. }), "{report}");
    let text = report.to_string();
    assert!(text.contains("`Called` has another signature than `Called` of `Named`"), "{text}");
    assert_eq!(before.differences(&stage.host.worlds().digest()), Vec::<String>::new());
    assert_eq!(stage.play(band, horn), "horn: toot 2");
}

#[test]
fn a_class_that_drops_an_interface_stops_implementing_it() {
    let stage = Stage::new();
    let (band, horn) = (stage.spawn("/Script/Town.Band"), stage.spawn("/Script/Brass.Horn"));
    assert_eq!(stage.play(band, horn), "horn: toot 2");
    stage.edit("Brass/Horn.uc", "implements(Loud)", "implements(Named)");
    stage.reload();
    assert_eq!(stage.play(band, horn), "silence");
    stage.edit("Brass/Horn.uc", "implements(Named)", "implements(Named, Loud)");
    stage.reload();
    assert_eq!(stage.play(band, horn), "horn: toot 4");
}

#[test]
fn static_functions_are_called_by_the_class_and_follow_a_reload() {
    let stage = Stage::new();
    let band = stage.spawn("/Script/Town.Band");
    assert_eq!(stage.call(band, "Pitches", &[]), Some(Value::I32(62)));
    stage.edit("Brass/Tuba.uc", "return 1", "return 2");
    stage.reload();
    assert_eq!(stage.call(band, "Pitches", &[]), Some(Value::I32(64)));
    stage.edit("Brass/Tuba.uc", "static function int Pitch() { return 2; }", "");
    stage.reload();
    assert_eq!(stage.call(band, "Pitches", &[]), Some(Value::I32(66)));
}
