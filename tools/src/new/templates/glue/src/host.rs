// What the host `{{name}}-host` declares, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

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
