// Declarations of the module `lamps` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

use alcedo_plugin_api::prelude::*;

/// Source of light.
#[uinterface(imported, package = "Game")]
pub trait Shines {
    /// Shines with brightness `how`; returns the actual brightness.
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    /// Returns the color of the light.
    fn color(&self) -> String;
}

/// A bulb.
#[uclass(imported, package = "Game", base = Object)]
pub struct Bulb {
    /// Power in watts.
    #[uproperty]
    watts: u32,
}

#[uclass(imported)]
impl Bulb {
    /// Static function that may fail.
    #[ufunction]
    fn lumens(watts: u32, per_watt: f64) -> Result<f64, CallError>;
    /// Static function with a borrowed container.
    #[ufunction]
    fn sum(of: Borrowed<UArray<f64>>) -> f64;
    /// Blinks. Dynamic calls may omit the last two arguments.
    #[ufunction]
    fn blink(&self, color: String, times: u32, how: String) -> String;
    /// Event that only scripts implement.
    #[ufunction(blueprint_implementable_event)]
    fn inspected(&self, by: String) -> u32;
    /// Calls the other functions of this class and returns the results.
    #[ufunction]
    fn all(&self) -> Result<String, CallError>;
    /// Returns the number of calls of `blink`.
    #[ufunction]
    fn reported(&self) -> u32;
    /// Event with a default implementation.
    #[ufunction(blueprint_native_event)]
    fn warm(&self, seconds: f64) -> f64;
}

/// Limits a current.
#[uclass(imported, package = "Game", base = Object)]
pub struct Fuse {
    /// Current; zero after the fuse has blown.
    #[uproperty]
    current: f64,
}

#[uclass(imported)]
impl Fuse {
    /// Adds to the current and returns the new value.
    #[ufunction]
    fn add_current(&self, more: f64) -> f64;
    /// Returns the number of changes.
    #[ufunction]
    fn changes(&self) -> u32;
    /// Returns the new current for a requested `current`.
    #[ufunction(blueprint_native_event)]
    fn limit(&self, current: f64) -> f64;
}

/// A lamp.
#[uclass(imported, package = "Game", base = Object)]
pub struct Lamp {
    /// Brightness of the lamp; zero when broken.
    #[uproperty]
    brightness: f64,
    /// Called by `call_before`.
    #[uproperty]
    before: Delegate<fn(u32) -> u32>,
}

#[uclass(imported)]
impl Lamp {
    /// Returns the tag of this build.
    #[ufunction]
    fn build_tag() -> u32;
    /// Reduces the brightness. Returns nothing or an error.
    #[ufunction]
    fn dim(&self, by: f64) -> Result<(), CallError>;
    /// Returns a name for the lamp, or an error.
    #[ufunction]
    fn label(&self, expected: String) -> Result<String, CallError>;
    /// Returns an error that contains its line.
    #[ufunction]
    fn exact(&self) -> Result<u32, CallError>;
    /// Panics, which is not reported as a returned error.
    #[ufunction]
    fn crash(&self) -> Result<u32, CallError>;
    /// Returns an error whose message calls back into the module.
    #[ufunction]
    fn curious(&self) -> Result<u32, CallError>;
    /// Returns an error whose message panics.
    #[ufunction]
    fn mute(&self) -> Result<u32, CallError>;
    /// Flickers another lamp and returns its error unchanged.
    #[ufunction]
    fn pass_on(&self, other: Obj<Lamp>, times: u32) -> Result<u32, CallError>;
    /// Flickers this lamp through another lamp; returns the error of the innermost call.
    #[ufunction]
    fn there_and_back(&self, other: Obj<Lamp>, times: u32) -> Result<u32, CallError>;
    /// Calls a function of this lamp and describes the kind of failure.
    #[ufunction]
    fn judge(&self, function: String) -> String;
    /// Calls the function that is bound to `before`.
    #[ufunction]
    fn call_before(&self, times: u32) -> String;
    /// Binds `flicker` of this lamp to `before`.
    #[ufunction]
    fn bind_own(&self);
    /// Calls a host function.
    #[ufunction]
    fn call_host(&self, name: String, number: u32) -> String;
    /// Returns the number of flickers.
    #[ufunction]
    fn flickers(&self) -> u32;
    /// Flickers `times` times; returns the number of all flickers.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
    #[ufunction(blueprint_native_event)]
    fn shine(&self, how: f64) -> Result<f64, CallError>;
    #[ufunction(blueprint_native_event)]
    fn color(&self) -> String;
}

/// Room whose light is an object of any class that implements `Shines`.
#[uclass(imported, package = "Game", base = Object)]
pub struct Room {
    /// Light of the room.
    #[uproperty]
    light: ScriptInterface<Shines>,
}

#[uclass(imported)]
impl Room {
    /// Replaces the light.
    #[ufunction]
    fn put_up(&self, light: Obj<Object>) -> Result<(), CallError>;
    /// Lights the room; returns the color, the brightness and the number of visits during the call.
    #[ufunction]
    fn light_up(&self, how: f64) -> Result<String, CallError>;
    /// Returns the color of an object that is not the light of the room.
    #[ufunction]
    fn inspect(&self, object: Obj<Object>) -> Result<String, CallError>;
    /// Destroys the light and calls it once more.
    #[ufunction]
    fn break_light(&self) -> Result<f64, CallError>;
    /// Counts a visit.
    #[ufunction]
    fn enter(&self);
}

/// Divides watts.
#[uclass(imported, package = "Game", base = Object)]
pub struct Splitter {
    /// Number of calls of `split`.
    #[uproperty]
    splits: u32,
}

#[uclass(imported)]
impl Splitter {
    /// Out parameters of every kind.
    #[ufunction]
    fn sorts(
        &self,
        own: &mut Obj<Splitter>,
        text: &mut String,
        row: &mut UArray<f64>,
        on: &mut bool,
    ) -> Result<(), CallError>;
    /// Static function.
    #[ufunction]
    fn twice(number: &mut f64);
    /// Changes an out parameter and panics.
    #[ufunction]
    fn crash(&self, number: &mut u32);
    /// Event without an implementation, which leaves its out parameter unchanged.
    #[ufunction(blueprint_implementable_event)]
    fn inspected(&self, by: &mut String) -> u32;
    /// Calls the other functions of this class by type and by name.
    #[ufunction]
    fn all(&self) -> Result<String, CallError>;
    /// Passes a value in place of an out parameter and vice versa; both calls must be refused.
    #[ufunction]
    fn wrong(&self) -> String;
    /// Takes a plain value.
    #[ufunction]
    fn splits_plus(&self, more: u32) -> u32;
    /// Returns the share of each consumer; the remainder and a log line are out parameters.
    #[ufunction(blueprint_native_event)]
    fn split(&self, watts: &mut u32, of: u32, log: &mut UArray<String>) -> Result<u32, CallError>;
}

/// Slow-blow fuse.
#[uclass(imported, package = "Game", base = Fuse)]
pub struct SlowFuse {}
