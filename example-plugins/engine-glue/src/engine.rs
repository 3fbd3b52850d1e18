// Declarations of the host `alcedo` in package `Engine` for plugins, written by `alcedo glue`.
// Run it again after a change of the host. Each load of a plugin compares every type, member and signature here with the host.

use alcedo_plugin_api::prelude::*;

/// A direction in three angles, in degrees.
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Rotator {
    /// Up and down.
    pub pitch: f64,
    /// Around the vertical.
    pub yaw: f64,
    /// Around the way forward.
    pub roll: f64,
}

/// A place or a direction, in centimeters.
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

/// An object with a place in the world.
#[uclass(imported, package = "Engine", base = Object)]
pub struct Actor {
    /// Where it is.
    #[uproperty]
    location: Vector,
    /// How it is turned.
    #[uproperty]
    rotation: Rotator,
    /// Set if the actor or component is ticked.
    #[uproperty]
    can_tick: bool,
    /// A number of its own, for what looks random.
    #[uproperty]
    seed: u32,
    /// The component that carries its place.
    #[uproperty]
    root_component: Obj<SceneComponent>,
    /// A text for people.
    #[uproperty]
    label: String,
    /// Set by the engine after begin play.
    #[uproperty]
    has_begun_play: bool,
}

#[uclass(imported)]
impl Actor {
    /// Turns it by `delta`.
    #[ufunction]
    fn add_rotation(&self, delta: Rotator);
    /// Moves it by `delta`.
    #[ufunction]
    fn add_location(&self, delta: Vector);
    /// Says what and where it is.
    #[ufunction]
    fn describe(&self) -> String;
    /// The world began to play.
    #[ufunction(blueprint_native_event)]
    fn receive_begin_play(&self);
    /// `delta_seconds` went by.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta_seconds: f32);
    /// The actor leaves the play.
    #[ufunction(blueprint_native_event)]
    fn receive_end_play(&self);
}

/// Lives inside an actor and adds to it.
#[uclass(imported, package = "Engine", base = Object)]
pub struct ActorComponent {
    /// Set if the actor or component is ticked.
    #[uproperty]
    can_tick: bool,
    /// Whose part it is.
    #[uproperty]
    owner: Obj<Actor>,
    /// Set by the engine after begin play.
    #[uproperty]
    has_begun_play: bool,
}

#[uclass(imported)]
impl ActorComponent {
    /// The world began to play.
    #[ufunction(blueprint_native_event)]
    fn component_begin_play(&self);
    /// `delta_seconds` went by.
    #[ufunction(blueprint_native_event)]
    fn component_tick(&self, delta_seconds: f32);
}

/// What all actors share: the time, and the gravity.
#[uclass(imported, package = "Engine", base = Object)]
pub struct World {
    /// Seconds since it began.
    #[uproperty]
    time: f64,
    /// How strongly it pulls down, in centimeters per second and second.
    #[uproperty]
    gravity: f64,
}

/// Stands between a person and an actor of the world. Hosts and scripts extend it.
#[uclass(imported, package = "Engine", base = Actor)]
pub struct PlayerController {
    /// What the person plays; none before `possess`.
    #[uproperty]
    pawn: Obj<Actor>,
}

#[uclass(imported)]
impl PlayerController {
    /// The person plays that actor from now on.
    #[ufunction]
    fn possess(&self, pawn: Obj<Actor>);
}

/// A component with a place relative to its actor.
#[uclass(imported, package = "Engine", base = ActorComponent)]
pub struct SceneComponent {
    /// Position relative to its owner.
    #[uproperty]
    relative_location: Vector,
    /// Rotation relative to its owner.
    #[uproperty]
    relative_rotation: Rotator,
}
