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

/// Turns others.
#[uclass(package = "Game")]
pub struct Turner {}

#[uclass]
impl Turner {
    /// Uses the function: one that no code uses is not compared.
    #[ufunction]
    fn turn(&self, this: This<Self>, actor: Obj<Actor>) -> Result<(), CallError> {
        this.get(actor)?.try_add_rotation(1.0)
    }
}
