//! Provides a package of scripts in a temporary folder, whose files tests edit, and hosts that load and reload the package. Also provides
//! source text of classes, and short calls that read and use the objects of these classes.

use std::fs;
use std::path::PathBuf;

use alcedo_runtime::{Builder, ObjectHandle, ReloadReport, Runtime, Value};

use crate::support;

pub(crate) const HERO: &str = "/Script/Tale.Hero";
pub(crate) const FANCY: &str = "/Script/Tale.FancyCube";

/// Class derived from a native class.
pub(crate) const HERO_TEXT: &str = r#"
class Hero extends Actor;

var() int Health;
var string Title;
var int Ticks;

function int Hurt(int Amount)
{
    Health -= Amount;
    return Health;
}

event ReceiveTick(float DeltaSeconds)
{
    Ticks++;
}

defaultproperties
{
    Health=100
    Title="Hero"
    CanTick=true
}
"#;

/// Class with a subobject of the class `Spark`.
pub(crate) const LAMP_TEXT: &str = "class Lamp extends Actor;

var Spark Shade;

defaultproperties
{
    Begin Object Class=Spark Name=Bulb
    End Object
    Shade=Bulb
}
";

/// Class derived from a plugin's class.
pub(crate) const FANCY_TEXT: &str = r#"
class FancyCube extends MagicCube;

var int Hellos;

event SayHello()
{
    Hellos++;
    super.SayHello();
}

function int Greeted()
{
    return GreetingCount();
}

defaultproperties
{
    Label="fancy"
}
"#;

pub(crate) struct Package {
    _dir: tempfile::TempDir,
    pub(crate) folder: PathBuf,
}

impl Package {
    pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = dir.path().join(name);
        fs::create_dir(&folder).expect("made");
        let package = Self { _dir: dir, folder };
        files.iter().for_each(|(name, text)| package.write(name, text));
        package
    }

    pub(crate) fn tale() -> Self {
        Self::new("Tale", &[("Hero.uc", HERO_TEXT), ("FancyCube.uc", FANCY_TEXT)])
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("written");
    }

    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.folder.join(name)).expect("there");
        assert!(text.contains(from), "{name} has {from}");
        self.write(name, &text.replace(from, to));
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.folder.join(name)).expect("there");
    }
}

pub(crate) fn builder() -> Builder {
    support::builder().package("Tale")
}

/// Returns the package, and the plugin on which the package depends.
pub(crate) fn modules(package: &Package) -> Vec<PathBuf> {
    vec![package.folder.clone(), support::plugin("magic-cube", &[])]
}

pub(crate) fn host(package: &Package) -> Runtime {
    support::host_of(builder(), &modules(package))
}

/// Returns a host whose Master has only this package.
pub(crate) fn host_of(builder: Builder, package: &Package) -> Runtime {
    support::host_of(builder, std::slice::from_ref(&package.folder))
}

pub(crate) fn reload(host: &Runtime, package: &Package) -> ReloadReport {
    let report = host.reload(&modules(package)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"))
}

pub(crate) fn reload_of(host: &Runtime, package: &Package) {
    let report = host.reload(std::slice::from_ref(&package.folder)).expect("a Master");
    report.into_result().unwrap_or_else(|report| panic!("{report}"));
}

pub(crate) fn spawn(host: &Runtime, class: &str) -> ObjectHandle {
    host.objects().spawn(class).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn get(host: &Runtime, object: ObjectHandle, property: &str) -> Value {
    host.objects().get(object, property).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn call(host: &Runtime, object: ObjectHandle, function: &str, arguments: &[Value]) -> Option<Value> {
    host.objects().call(object, function, arguments).unwrap_or_else(|error| panic!("{error}"))
}
