//! A small engine, so that Alcedo has something to show and to test with: a [`World`], actors with
//! components, and a tick that calls their events. Everything is declared through the facade of the runtime, as any
//! embedder would.

mod actor;
pub mod math;
mod player_controller;
mod tick;
mod world;

use alcedo_runtime::native::{Class as _, Natives};
use alcedo_runtime::natives;

pub use actor::{Actor, ActorComponent, SceneComponent};
pub use math::{Rotator, Vector};
pub use player_controller::PlayerController;
pub use world::World;

/// Path of the actor class.
pub const ACTOR: &str = Actor::PATH;

/// Path of the world class.
pub const WORLD: &str = World::PATH;

/// The native classes `World`, `Actor`, `PlayerController`, `ActorComponent`, `SceneComponent`, their structs, and what drives them: begin
/// play when an object is first seen, tick once a frame for those that want it, end play before an actor is destroyed.
pub fn natives() -> Natives {
    let all = natives![Vector, Rotator, ActorComponent, SceneComponent, Actor, PlayerController, World];
    // `vector` is three floats for the C libraries of UnrealScript.
    tick::drive(all).c_floats("/Script/Engine.Vector")
}
