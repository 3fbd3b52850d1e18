//! A small engine for examples and tests of Alcedo: a [`World`], actors with components, and a tick that calls their events. All
//! classes are declared through the public API of the runtime, as in any other host.

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
///
/// # Examples
/// ```
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().natives(alcedo_engine::natives()).build()?;
/// let gate = runtime.objects().spawn(alcedo_engine::ACTOR)?;
/// runtime.objects().set(gate, "label", &Value::Text("Gate".into()))?;
/// assert_eq!(runtime.objects().get(gate, "label")?, Value::Text("Gate".into()));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub const ACTOR: &str = Actor::PATH;

/// Path of the world class.
///
/// # Examples
/// ```
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().natives(alcedo_engine::natives()).build()?;
/// let world = runtime.objects().spawn(alcedo_engine::WORLD)?;
/// assert_eq!(runtime.objects().get(world, "gravity")?, Value::F64(-980.0));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub const WORLD: &str = World::PATH;

/// Returns the native classes `World`, `Actor`, `PlayerController`, `ActorComponent`, `SceneComponent`, their structs, and the frame hooks.
/// The frame hooks call the begin-play event on new objects, and, in each frame, the tick event on objects with `can_tick`. The frame hooks
/// also call the end-play event before an actor is destroyed.
///
/// # Examples
/// ```
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().natives(alcedo_engine::natives()).build()?;
/// let actor = runtime.objects().spawn(alcedo_engine::ACTOR)?;
/// let described = runtime.objects().call(actor, "describe", &[])?;
/// assert!(matches!(described, Some(Value::Text(text)) if text.ends_with("at (0.00, 0.00, 0.00)")));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub fn natives() -> Natives {
    let all = natives![Vector, Rotator, ActorComponent, SceneComponent, Actor, PlayerController, World];
    // C libraries of UnrealScript code expect `vector` as three values of type `float`.
    tick::drive(all).c_floats("/Script/Engine.Vector")
}
