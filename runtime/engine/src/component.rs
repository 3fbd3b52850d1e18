//! Components: objects that live inside an actor and add to it.

use alcedo_runtime::native::{Obj, This, uclass};

use crate::actor::Actor;
use crate::math::{Rotator, Vector};

/// Lives inside an actor and adds to it.
#[uclass(package = "Engine", blueprintable)]
pub struct ActorComponent {
    /// Whether it gets ticks.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    can_tick: bool,
    /// Whose part it is.
    #[uproperty(blueprint_read)]
    owner: Obj<Actor>,
    /// Whether begin play was called; the engine sets it.
    #[uproperty(transient)]
    has_begun_play: bool,
}

#[uclass]
impl ActorComponent {
    /// A component's owner is the actor it was made inside, where it was made inside one.
    #[post_init_properties]
    fn belong(&self, this: This<Self>) {
        if let Some(actor) = this.outer::<Actor>() {
            this.set_owner(actor.as_obj());
        }
    }

    /// The world began to play.
    #[ufunction(blueprint_native_event)]
    fn component_begin_play(&self);
    fn component_begin_play_implementation(&mut self) {}

    /// `delta_seconds` went by.
    #[ufunction(blueprint_native_event)]
    fn component_tick(&self, delta_seconds: f32);
    fn component_tick_implementation(&mut self, _delta_seconds: f32) {}
}

/// A component with a place relative to its actor.
#[uclass(package = "Engine", base = ActorComponent, blueprintable)]
pub struct SceneComponent {
    /// Where it is, seen from its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_location: Vector,
    /// How it is turned, seen from its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_rotation: Rotator,
}
