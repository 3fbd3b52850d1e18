//! `PlayerController`: the link between a person and the actor that the person plays.

use alcedo_runtime::native::{Obj, This, uclass};

use crate::actor::Actor;

/// Link between a person and an actor of the world. Hosts and scripts extend it.
#[uclass(package = "Engine", base = Actor, blueprintable)]
#[derive(Default)]
pub struct PlayerController {
    /// Actor that the person plays; none before `possess`.
    #[uproperty(blueprint_read)]
    pawn: Obj<Actor>,
}

#[uclass]
impl PlayerController {
    /// Makes `pawn` the actor that the person plays.
    #[ufunction(blueprint_callable)]
    fn possess(&self, this: This<Self>, pawn: Obj<Actor>) {
        this.set_pawn(pawn);
    }
}
