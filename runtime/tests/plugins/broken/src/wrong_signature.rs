//! Declarations of the engine's `Actor` that differ from the engine.

use alcedo_plugin_api::prelude::*;

/// Engine actor with a wrong signature.
#[uclass(imported, package = "Engine")]
pub struct Actor {}

#[uclass(imported)]
impl Actor {
    /// Has a parameter of type `Rotator` in the engine.
    #[ufunction]
    fn add_rotation(&self, degrees: f64);
}

/// Class that rotates actors.
#[uclass(package = "Game")]
pub struct Turner {}

#[uclass]
impl Turner {
    /// Calls `add_rotation`. The host does not compare functions that are not used.
    #[ufunction]
    fn turn(&self, this: This<Self>, actor: Obj<Actor>) -> Result<(), CallError> {
        this.get(actor)?.try_add_rotation(1.0)
    }
}
