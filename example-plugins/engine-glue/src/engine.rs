// Declarations of the host `alcedo` in package `Engine` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// A direction as three angles, in degrees.
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Rotator {
    /// Up and down.
    pub pitch: f64,
    /// Around the vertical.
    pub yaw: f64,
    /// Around the forward axis.
    pub roll: f64,
}

/// A point or a direction, in centimeters.
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Vector {
    /// Forward.
    pub x: f64,
    /// To the right.
    pub y: f64,
    /// Up.
    pub z: f64,
}

/// An object with a location in the world.
#[uclass(imported, package = "Engine", base = Object)]
pub struct Actor {
    /// Location in the world.
    #[uproperty]
    location: Vector,
    /// Rotation in the world.
    #[uproperty]
    rotation: Rotator,
    /// Set if the actor or component is ticked.
    #[uproperty]
    can_tick: bool,
    /// Number that differs per actor, for pseudo-random values.
    #[uproperty]
    seed: u32,
    /// Component that holds the actor's location.
    #[uproperty]
    root_component: Obj<SceneComponent>,
    /// Display name.
    #[uproperty]
    label: String,
    /// Set by the engine after begin play.
    #[uproperty]
    has_begun_play: bool,
}

#[uclass(imported)]
impl Actor {
    /// Adds `delta` to the rotation.
    #[ufunction]
    fn add_rotation(&self, delta: Rotator);
    /// Adds `delta` to the location.
    #[ufunction]
    fn add_location(&self, delta: Vector);
    /// Returns a description with name and location.
    #[ufunction]
    fn describe(&self) -> String;
    /// Called when the actor or component begins play.
    #[ufunction(blueprint_native_event)]
    fn receive_begin_play(&self);
    /// Called once a frame; `delta_seconds` is the time since the last frame.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta_seconds: f32);
    /// Called before the actor is destroyed.
    #[ufunction(blueprint_native_event)]
    fn receive_end_play(&self);
}

/// Part of an actor.
#[uclass(imported, package = "Engine", base = Object)]
pub struct ActorComponent {
    /// Set if the actor or component is ticked.
    #[uproperty]
    can_tick: bool,
    /// Actor that the component belongs to.
    #[uproperty]
    owner: Obj<Actor>,
    /// Set by the engine after begin play.
    #[uproperty]
    has_begun_play: bool,
}

#[uclass(imported)]
impl ActorComponent {
    /// Called when the actor or component begins play.
    #[ufunction(blueprint_native_event)]
    fn component_begin_play(&self);
    /// Called once a frame; `delta_seconds` is the time since the last frame.
    #[ufunction(blueprint_native_event)]
    fn component_tick(&self, delta_seconds: f32);
}

/// State that all actors share: time and gravity.
#[uclass(imported, package = "Engine", base = Object)]
pub struct World {
    /// Seconds since the world began.
    #[uproperty]
    time: f64,
    /// Vertical acceleration, in centimeters per second squared.
    #[uproperty]
    gravity: f64,
}

/// Link between a person and an actor of the world. Hosts and scripts extend it.
#[uclass(imported, package = "Engine", base = Actor)]
pub struct PlayerController {
    /// Actor that the person plays; none before `possess`.
    #[uproperty]
    pawn: Obj<Actor>,
}

#[uclass(imported)]
impl PlayerController {
    /// Makes `pawn` the actor that the person plays.
    #[ufunction]
    fn possess(&self, pawn: Obj<Actor>);
}

/// A component with a location relative to its actor.
#[uclass(imported, package = "Engine", base = ActorComponent)]
pub struct SceneComponent {
    /// Position relative to its owner.
    #[uproperty]
    relative_location: Vector,
    /// Rotation relative to its owner.
    #[uproperty]
    relative_rotation: Rotator,
}
