//! The classes and structs of the sample engine, as plugins see them. Nothing is declared here: while a plugin is
//! loaded, the host compares each name, type and signature with its own.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

/// A place or a direction.
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

impl Vector {
    /// So far up.
    #[must_use]
    pub const fn up(z: f64) -> Self {
        Self { x: 0.0, y: 0.0, z }
    }
}

/// A turn, in degrees.
#[ustruct(pod, imported, package = "Engine")]
#[derive(Debug, Default, PartialEq)]
pub struct Rotator {
    /// Around the right axis.
    pub pitch: f64,
    /// Around the up axis.
    pub yaw: f64,
    /// Around the forward axis.
    pub roll: f64,
}

impl Rotator {
    /// A turn around the up axis.
    #[must_use]
    pub const fn yaw(degrees: f64) -> Self {
        Self { pitch: 0.0, yaw: degrees, roll: 0.0 }
    }
}

/// What can be placed in a world.
#[uclass(imported, package = "Engine", base = Object)]
pub struct Actor {
    /// Where it is.
    #[uproperty]
    location: Vector,
    /// How it is turned.
    #[uproperty]
    rotation: Rotator,
    /// Whether it gets ticks.
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
    /// `delta` seconds went by.
    #[ufunction(blueprint_native_event)]
    fn receive_tick(&self, delta: f32);
    /// The actor leaves the play.
    #[ufunction(blueprint_native_event)]
    fn receive_end_play(&self);
}

/// A part of an actor.
#[uclass(imported, package = "Engine", base = Object)]
pub struct ActorComponent {
    /// Whether it gets ticks.
    #[uproperty]
    can_tick: bool,
    /// Whose part it is.
    #[uproperty]
    owner: Obj<Actor>,
}

#[uclass(imported)]
impl ActorComponent {
    /// The world began to play.
    #[ufunction(blueprint_native_event)]
    fn component_begin_play(&self);
    /// `delta` seconds went by.
    #[ufunction(blueprint_native_event)]
    fn component_tick(&self, delta: f32);
}

/// A part of an actor that has a place.
#[uclass(imported, package = "Engine", base = ActorComponent)]
pub struct SceneComponent {
    /// Where it is, seen from its owner.
    #[uproperty]
    relative_location: Vector,
    /// How it is turned, seen from its owner.
    #[uproperty]
    relative_rotation: Rotator,
}

/// What all actors are in.
#[uclass(imported, package = "Engine", base = Object)]
pub struct World {
    /// Seconds since it began.
    #[uproperty]
    time: f64,
    /// How strongly it pulls down.
    #[uproperty]
    gravity: f64,
}
