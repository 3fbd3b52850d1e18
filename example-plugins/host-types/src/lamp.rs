// Declarations of the host `a test` in package `Test` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// An interface of the host.
#[uinterface(imported, package = "Test")]
pub trait Hums {
    /// Hums `times` times. Returns the total number of hums.
    fn hum(&self, times: u32) -> Result<u32, CallError>;
}

/// The host's lamp.
#[uclass(imported, package = "Test", base = Object)]
pub struct Lamp {
    /// Brightness.
    #[uproperty]
    brightness: f64,
}

#[uclass(imported)]
impl Lamp {
    /// Flickers once, and reads the count during that call.
    #[ufunction]
    fn count_inside(&self) -> u32;
    /// Turns up the lamp.
    #[ufunction]
    fn turn_up(&self, by: f64);
    /// Flickers `times` times. Returns the total number of flickers.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
}
