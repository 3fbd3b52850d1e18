//! The host's classes, as plugins see them: what `host/src/lib.rs` declares, in the words of a plugin. While a plugin is
//! loaded, the host compares each name, type and signature with its own.

#![forbid(unsafe_code)]

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
