//! Declarations of the engine's `Actor` that do not agree with the engine.

use alcedo_plugin_api::prelude::*;

/// The engine's actor, wrongly remembered.
#[uclass(imported, package = "Engine")]
pub struct Actor {}

#[uclass(imported)]
impl Actor {
    /// Takes a `Rotator` in the engine.
    #[ufunction]
    fn add_rotation(&self, degrees: f64);
}
