//! `PlayerController`: what stands between a person and the actor that the person plays.

use alcedo_runtime::native::{Obj, This, uclass};

use crate::actor::Actor;

/// Stands between a person and an actor of the world. Hosts and scripts extend it.
#[uclass(package = "Engine", base = Actor, blueprintable)]
#[derive(Default)]
pub struct PlayerController {
    /// What the person plays; none before `possess`.
    #[uproperty(blueprint_read)]
    pawn: Obj<Actor>,
}

#[uclass]
impl PlayerController {
    /// The person plays that actor from now on.
    #[ufunction(blueprint_callable)]
    fn possess(&self, this: This<Self>, pawn: Obj<Actor>) {
        this.set_pawn(pawn);
    }
}
