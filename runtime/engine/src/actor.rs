//! `Actor`, an object with a place in the world, and components, which live inside an actor and add to it: each names the other as a
//! field.

use alcedo_runtime::native::{Obj, This, uclass};

use crate::math::{Rotator, Vector};

/// An object with a place in the world.
#[uclass(package = "Engine", blueprintable)]
pub struct Actor {
    /// Where it is.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    location: Vector,
    /// How it is turned.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    rotation: Rotator,
    /// Set if the actor or component is ticked.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    can_tick: bool,
    /// A number of its own, for what looks random.
    #[uproperty(blueprint_read)]
    seed: u32,
    /// The component that carries its place.
    #[uproperty(blueprint_read)]
    root_component: Obj<SceneComponent>,
    /// A text for people.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    label: String,
    /// Set by the engine after begin play.
    #[uproperty(transient)]
    has_begun_play: bool,
}

#[uclass]
impl Actor {
    /// Gives every actor a seed of its own, and makes the subobject that is declared as the root its root component.
    #[post_init_properties]
    fn settle(&self, this: This<Self>) {
        if !this.is_template() {
            this.set_seed(this.handle().index());
        }
        if let Some(component) = this.root_subobject::<SceneComponent>() {
            this.set_root_component(component.as_obj());
        }
    }

    /// Turns it by `delta`.
    #[ufunction(blueprint_callable)]
    fn add_rotation(&mut self, this: This<Self>, delta: Rotator) {
        this.set_rotation(this.rotation() + delta);
    }

    /// Moves it by `delta`.
    #[ufunction(blueprint_callable)]
    fn add_location(&mut self, this: This<Self>, delta: Vector) {
        this.set_location(this.location() + delta);
    }

    /// Says what and where it is.
    #[ufunction(blueprint_pure)]
    fn describe(&self, this: This<Self>) -> String {
        let Vector { x, y, z } = this.location();
        format!("{} at ({x:.2}, {y:.2}, {z:.2})", this.name())
    }

    /// The world began to play.
    #[ufunction(blueprint_native_event)]
    fn receive_begin_play(&self);
    fn receive_begin_play_implementation(&mut self) {}

    /// `delta_seconds` went by.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta_seconds: f32);
    fn receive_tick_implementation(&mut self, _delta_seconds: f32) {}

    /// The actor leaves the play.
    #[ufunction(blueprint_native_event)]
    fn receive_end_play(&self);
    fn receive_end_play_implementation(&mut self) {}
}

/// Lives inside an actor and adds to it.
#[uclass(package = "Engine", blueprintable)]
pub struct ActorComponent {
    /// Set if the actor or component is ticked.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    can_tick: bool,
    /// Whose part it is.
    #[uproperty(blueprint_read)]
    owner: Obj<Actor>,
    /// Set by the engine after begin play.
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
    /// Position relative to its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_location: Vector,
    /// Rotation relative to its owner.
    #[uproperty(edit_anywhere, blueprint_read, blueprint_write)]
    relative_rotation: Rotator,
}
