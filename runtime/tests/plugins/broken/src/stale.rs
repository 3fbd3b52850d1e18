//! Glue of an older engine. Each feature makes one member differ from the engine.

use alcedo_plugin_api::prelude::*;

/// Has a property whose type differs from the engine.
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

/// Has a field whose type differs from the engine.
#[cfg(feature = "stale-field")]
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Rotator {
    /// Rotation around the right axis.
    pub pitch: f64,
    /// An `f64` in the engine.
    pub yaw: f32,
    /// Rotation around the forward axis.
    pub roll: f64,
}

/// Has a base that differs from the engine.
#[cfg(feature = "stale-base")]
#[uclass(imported, package = "Engine", base = engine_glue::World)]
pub struct SceneComponent {}

/// Has a function that the engine lacks.
#[cfg(feature = "stale-function")]
#[uclass(imported, package = "Engine")]
pub struct Actor {}

#[cfg(feature = "stale-function")]
#[uclass(imported)]
impl Actor {
    /// Absent from the engine.
    #[ufunction(blueprint_implementable_event)]
    fn receive_storm(&self);
}

/// Uses the outdated members of this file. The host does not compare members that are not used.
#[cfg(any(feature = "stale-property", feature = "stale-function", feature = "stale-owner"))]
#[uclass(package = "Game")]
pub struct User {}

#[cfg(any(feature = "stale-property", feature = "stale-function", feature = "stale-owner"))]
#[uclass]
impl User {
    /// Uses the member that this build declares differently.
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
