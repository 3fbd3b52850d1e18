//! Actors and their components. An actor is an object with a location in the world. An actor stores its root component in a property. A
//! component stores its actor in a property.

use alcedo_runtime::native::{Obj, This, uclass};

use crate::math::{Rotator, Vector};

/// An object with a location in the world.
#[uclass(package = "Engine", blueprintable)]
pub struct Actor {
    /// Location in the world.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    location: Vector,
    /// Rotation in the world.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    rotation: Rotator,
    /// Set if the actor or component is ticked.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    can_tick: bool,
    /// Number that differs per actor, for pseudo-random values.
    #[uproperty(blueprint_read)]
    seed: u32,
    /// Component that holds the actor's location.
    #[uproperty(blueprint_read)]
    root_component: Obj<SceneComponent>,
    /// Display name.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    label: String,
    /// Set by the engine after begin play.
    #[uproperty(transient)]
    has_begun_play: bool,
}

#[uclass]
impl Actor {
    /// Assigns a seed to each actor, and makes the default subobject that is declared as the root its root component.
    #[post_init_properties]
    fn init_actor(&self, this: This<Self>) {
        if !this.is_template() {
            this.set_seed(this.handle().index());
        }
        if let Some(component) = this.root_subobject::<SceneComponent>() {
            this.set_root_component(component.as_obj());
        }
    }

    /// Adds `delta` to the rotation.
    #[ufunction(blueprint_callable)]
    fn add_rotation(&mut self, this: This<Self>, delta: Rotator) {
        this.set_rotation(this.rotation() + delta);
    }

    /// Adds `delta` to the location.
    #[ufunction(blueprint_callable)]
    fn add_location(&mut self, this: This<Self>, delta: Vector) {
        this.set_location(this.location() + delta);
    }

    /// Returns a description with name and location.
    #[ufunction(blueprint_pure)]
    fn describe(&self, this: This<Self>) -> String {
        let Vector { x, y, z } = this.location();
        format!("{} at ({x:.2}, {y:.2}, {z:.2})", this.name())
    }

    /// Called when the actor or component begins play.
    #[ufunction(blueprint_native_event)]
    fn receive_begin_play(&self);
    fn receive_begin_play_implementation(&mut self) {}

    /// Called once a frame; `delta_seconds` is the time since the last frame.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta_seconds: f32);
    fn receive_tick_implementation(&mut self, _delta_seconds: f32) {}

    /// Called before the actor is destroyed.
    #[ufunction(blueprint_native_event)]
    fn receive_end_play(&self);
    fn receive_end_play_implementation(&mut self) {}
}

/// Part of an actor.
#[uclass(package = "Engine", blueprintable)]
pub struct ActorComponent {
    /// Set if the actor or component is ticked.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    can_tick: bool,
    /// Actor that the component belongs to.
    #[uproperty(blueprint_read)]
    owner: Obj<Actor>,
    /// Set by the engine after begin play.
    #[uproperty(transient)]
    has_begun_play: bool,
}

#[uclass]
impl ActorComponent {
    /// Sets the owner to the actor that contains the component, if any.
    #[post_init_properties]
    fn belong(&self, this: This<Self>) {
        if let Some(actor) = this.outer::<Actor>() {
            this.set_owner(actor.as_obj());
        }
    }

    /// Called when the actor or component begins play.
    #[ufunction(blueprint_native_event)]
    fn component_begin_play(&self);
    fn component_begin_play_implementation(&mut self) {}

    /// Called once a frame; `delta_seconds` is the time since the last frame.
    #[ufunction(blueprint_native_event)]
    fn component_tick(&self, delta_seconds: f32);
    fn component_tick_implementation(&mut self, _delta_seconds: f32) {}
}

/// A component with a location relative to its actor.
#[uclass(package = "Engine", base = ActorComponent, blueprintable)]
pub struct SceneComponent {
    /// Position relative to its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_location: Vector,
    /// Rotation relative to its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_rotation: Rotator,
}
