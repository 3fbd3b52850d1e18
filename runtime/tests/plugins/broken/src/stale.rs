//! Glue of the engine as another engine had it: each feature differs in one member.

use alcedo_plugin_api::prelude::*;

/// What is wrong with it.
#[cfg(feature = "stale-property")]
#[uclass(imported, package = "Engine")]
pub struct Actor {
    /// A `u32` in the engine.
    #[uproperty]
    seed: f32,
}

/// Has a property that the engine lacks.
#[cfg(feature = "stale-owner")]
#[uclass(imported, package = "Engine")]
pub struct Actor {
    /// Absent from the engine.
    #[uproperty]
    warmth: f64,
}

/// Has another field than the engine's.
#[cfg(feature = "stale-field")]
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Rotator {
    /// Up and down.
    pub pitch: f64,
    /// An `f64` in the engine.
    pub yaw: f32,
    /// Around the way forward.
    pub roll: f64,
}

/// Extends the component in the engine.
#[cfg(feature = "stale-base")]
#[uclass(imported, package = "Engine", base = engine_glue::World)]
pub struct SceneComponent {}

/// What is wrong with it.
#[cfg(feature = "stale-function")]
#[uclass(imported, package = "Engine")]
pub struct Actor {}

#[cfg(feature = "stale-function")]
#[uclass(imported)]
impl Actor {
    /// Is not there.
    #[ufunction(blueprint_implementable_event)]
    fn receive_storm(&self);
}

/// Uses the members: those that no code uses are not compared.
#[cfg(any(feature = "stale-property", feature = "stale-function", feature = "stale-owner"))]
#[uclass(package = "Game")]
pub struct User {}

#[cfg(any(feature = "stale-property", feature = "stale-function", feature = "stale-owner"))]
#[uclass]
impl User {
    /// Uses the member of this build.
    #[ufunction]
    fn act(&self, this: This<Self>, actor: Obj<Actor>) -> Result<(), CallError> {
        #[cfg(feature = "stale-property")]
        this.get(actor)?.try_set_seed(1.0)?;
        #[cfg(feature = "stale-function")]
        this.get(actor)?.try_receive_storm()?;
        #[cfg(feature = "stale-owner")]
        this.get(actor)?.try_set_warmth(1.0)?;
        Ok(())
    }
}
