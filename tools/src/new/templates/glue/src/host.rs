// Declarations of the host `{{name}}-host` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// A robot that drives along a line.
#[uclass(imported, package = "Robots", base = Object)]
pub struct Robot {
    /// Position on the line, in meters.
    #[uproperty]
    position: f64,
    /// Total distance driven, in meters.
    #[uproperty]
    odometer: f64,
}

#[uclass(imported)]
impl Robot {
    /// Drives `distance` meters; backward if negative.
    #[ufunction]
    fn drive(&self, distance: f64);
    /// Returns the number of drives.
    #[ufunction]
    fn drives(&self) -> u64;
    /// Called every tick; `seconds` is the time since the last tick.
    #[ufunction(blueprint_native_event)]
    fn on_tick(&self, seconds: f32);
}
