// What the host `a test` declares in package `Test`, for plugins that use it. Written by `alcedo glue`: change the host
// and write it again. While a plugin is loaded each type, member and signature is compared with the host's own.

use alcedo_plugin_api::prelude::*;

/// What the host has declared.
#[uinterface(imported, package = "Test")]
pub trait Hums {
    /// Hums so often; gives how often it ever did.
    fn hum(&self, times: u32) -> Result<u32, CallError>;
}

/// The host's lamp.
#[uclass(imported, package = "Test", base = Object)]
pub struct Lamp {
    /// How bright.
    #[uproperty]
    brightness: f64,
}

#[uclass(imported)]
impl Lamp {
    /// Flickers once, and asks in the middle of it how often it did.
    #[ufunction]
    fn count_inside(&self) -> u32;
    /// Turns it up.
    #[ufunction]
    fn turn_up(&self, by: f64);
    /// Flickers so often; gives how often it ever did.
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
}
