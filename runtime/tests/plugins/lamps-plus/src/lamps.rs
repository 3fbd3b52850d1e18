// Declarations of the module `lamps` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

use alcedo_plugin_api::prelude::*;

/// What gives light.
#[uinterface(imported, package = "Game")]
pub trait Shines {
    /// Shines that brightly; gives how brightly it does.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// The color of its light.
    fn color(&self) -> String;
}

/// A bulb.
#[uclass(imported, package = "Game", base = Object)]
pub struct Bulb {
    /// How many watts it takes.
    #[uproperty]
    watts: u32,
}

#[uclass(imported)]
impl Bulb {
    /// Needs no bulb.
    #[ufunction]
    fn lumens(watts: u32, per_watt: f64) -> Result<f64, CallError>;
    /// Needs none either, and takes what lies in the host.
    #[ufunction]
    fn sum(of: UArray<f64>) -> f64;
    /// Blinks; a host that calls with values may leave the last two out.
    #[ufunction]
    fn blink(&self, color: String, times: u32, how: String) -> String;
    /// Somebody looks at it: a script may do something then.
    #[ufunction(blueprint_implementable_event)]
    fn looked_at(&self, by: String) -> u32;
    /// What all of these give to plugin code.
    #[ufunction]
    fn all(&self) -> Result<String, CallError>;
    /// How often it was told something.
    #[ufunction]
    fn told(&self) -> u32;
    /// An event with a default.
    #[ufunction(blueprint_native_event)]
    fn warm(&self, seconds: f64) -> f64;
}

/// Limits a current.
#[uclass(imported, package = "Game", base = Object)]
pub struct Fuse {
    /// Zero after it has blown.
    #[uproperty]
    current: f64,
}

#[uclass(imported)]
impl Fuse {
    /// Adds to the current, and returns the new one.
    #[ufunction]
    fn add_current(&self, more: f64) -> f64;
    /// Returns the number of changes.
    #[ufunction]
    fn changes(&self) -> u32;
    /// Returns what the current becomes instead of `current`.
    #[ufunction(blueprint_native_event)]
    fn limit(&self, current: f64) -> f64;
}

/// A lamp.
#[uclass(imported, package = "Game", base = Object)]
pub struct Lamp {
    /// How bright it is.
    #[uproperty]
    brightness: f64,
    /// What is asked before it flickers.
    #[uproperty]
    before: Delegate<fn(u32) -> u32>,
}

#[uclass(imported)]
impl Lamp {
    /// Which build this is.
    #[ufunction]
    fn build_tag() -> u32;
    /// Makes it darker. Nothing comes back but, sometimes, an error.
    #[ufunction]
    fn dim(&self, by: f64) -> Result<(), CallError>;
    /// A name for it, or an error.
    #[ufunction]
    fn label(&self, wanted: String) -> Result<String, CallError>;
    /// Says at which line it gave up.
    #[ufunction]
    fn exact(&self) -> Result<u32, CallError>;
    /// Panics: that is no error that it gives back.
    #[ufunction]
    fn crash(&self) -> Result<u32, CallError>;
    /// An error whose words call back into the module.
    #[ufunction]
    fn curious(&self) -> Result<u32, CallError>;
    /// An error that panics when it is asked for its words.
    #[ufunction]
    fn mute(&self) -> Result<u32, CallError>;
    /// Has another lamp flicker, and gives its error on as what it is.
    #[ufunction]
    fn pass_on(&self, other: Obj<Lamp>, times: u32) -> Result<u32, CallError>;
    /// Has another lamp flicker, which has this one flicker: an error of the innermost call is this call's.
    #[ufunction]
    fn there_and_back(&self, other: Obj<Lamp>, times: u32) -> Result<u32, CallError>;
    /// What kind of failure another lamp's function is.
    #[ufunction]
    fn judge(&self, function: String) -> String;
    /// Calls what is bound, in front of a flicker.
    #[ufunction]
    fn ask_before(&self, times: u32) -> String;
    /// Binds its own flicker.
    #[ufunction]
    fn bind_own(&self);
    /// Asks the host.
    #[ufunction]
    fn ask_host(&self, name: String, number: u32) -> String;
    /// How often it flickered.
    #[ufunction]
    fn flickers(&self) -> u32;
    /// Flickers so many times; gives how often it did in its life.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
    #[ufunction(blueprint_native_event)]
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    #[ufunction(blueprint_native_event)]
    fn color(&self) -> String;
}

/// A room with one light, of whatever class.
#[uclass(imported, package = "Game", base = Object)]
pub struct Room {
    /// What lights it.
    #[uproperty]
    light: ScriptInterface<Shines>,
}

#[uclass(imported)]
impl Room {
    /// Puts another light up.
    #[ufunction]
    fn put_up(&self, light: Obj<Object>) -> Result<(), CallError>;
    /// Lights it: the color, and how often somebody has come in meanwhile.
    #[ufunction]
    fn light_up(&self, how: f64) -> Result<String, CallError>;
    /// What color an object has that is not put up.
    #[ufunction]
    fn look_at(&self, object: Obj<Object>) -> Result<String, CallError>;
    /// Destroys what lights it, and calls it once more.
    #[ufunction]
    fn break_light(&self) -> Result<f64, CallError>;
    /// Somebody comes in.
    #[ufunction]
    fn enter(&self);
}

/// Shares watts out.
#[uclass(imported, package = "Game", base = Object)]
pub struct Splitter {
    /// How often it was asked.
    #[uproperty]
    asked: u32,
}

#[uclass(imported)]
impl Splitter {
    /// Every sort of value comes back.
    #[ufunction]
    fn sorts(
        &self,
        own: &mut Obj<Splitter>,
        text: &mut String,
        row: &mut UArray<f64>,
        on: &mut bool,
    ) -> Result<(), CallError>;
    /// Needs no object.
    #[ufunction]
    fn twice(number: &mut f64);
    /// Panics when it has changed what was to come back.
    #[ufunction]
    fn crash(&self, number: &mut u32);
    /// An event without a body leaves what it is given.
    #[ufunction(blueprint_implementable_event)]
    fn looked_at(&self, by: &mut String) -> u32;
    /// All of these, called by type and by name.
    #[ufunction]
    fn all(&self) -> Result<String, CallError>;
    /// Who gives a plain value where one comes back is refused, and the other way round.
    #[ufunction]
    fn wrong(&self) -> String;
    /// Takes a plain value.
    #[ufunction]
    fn asked_of(&self, more: u32) -> u32;
    /// Gives what each of so many gets; the rest, and a line, come back.
    #[ufunction(blueprint_native_event)]
    fn split(&self, watts: &mut u32, of: u32, log: &mut UArray<String>) -> Result<u32, CallError>;
}

/// Blows late.
#[uclass(imported, package = "Game", base = Fuse)]
pub struct SlowFuse {}
