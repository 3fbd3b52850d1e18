// Declarations of the host `{{name}}-host` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// It stands on a line, and drives along it.
#[uclass(imported, package = "Robots", base = Object)]
pub struct Robot {
    /// Where it is, in meters.
    #[uproperty]
    position: f64,
    /// How far it has driven in all.
    #[uproperty]
    odometer: f64,
}

#[uclass(imported)]
impl Robot {
    /// Drives so many meters; backward if they are negative.
    #[ufunction]
    fn drive(&self, distance: f64);
    /// How often it drove.
    #[ufunction]
    fn drives(&self) -> u64;
    /// So many seconds went by.
    #[ufunction(blueprint_native_event)]
    fn on_tick(&self, seconds: f32);
}
