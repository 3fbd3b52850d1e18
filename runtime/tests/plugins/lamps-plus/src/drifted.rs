//! Outdated glue for the module `lamps`. A parameter of `shine` has another type than in `lamps`.

use alcedo_plugin_api::prelude::*;

/// Source of light.
#[uinterface(imported, package = "Game")]
pub trait Shines {
    fn shine(&self, how: f32) -> Result<f64, CallError>;
    fn color(&self) -> String;
}

/// A bulb.
#[uclass(imported, package = "Game", base = Object)]
pub struct Bulb {}

#[uclass(imported)]
impl Bulb {
    #[ufunction]
    fn lumens(watts: u32, per_watt: f64) -> Result<f64, CallError>;
}

/// A lamp.
#[uclass(imported, package = "Game", base = Object)]
pub struct Lamp {
    #[uproperty]
    before: Delegate<fn(u32) -> u32>,
}

#[uclass(imported)]
impl Lamp {
    #[ufunction]
    fn dim(&self, by: f64) -> Result<(), CallError>;
    #[ufunction(blueprint_native_event)]
    fn flicker(&self, times: u32) -> Result<u32, CallError>;
    #[ufunction(blueprint_native_event)]
    fn shine(&self, how: f64) -> Result<f64, CallError>;
}

/// Divides watts.
#[uclass(imported, package = "Game", base = Object)]
pub struct Splitter {}

#[uclass(imported)]
impl Splitter {
    #[ufunction(blueprint_native_event)]
    fn split(&self, watts: &mut u32, of: u32, log: &mut UArray<String>) -> Result<u32, CallError>;
}
