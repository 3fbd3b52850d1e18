//! A small engine, so that Alcedo has something to show and to test with: a [`World`](native_classes), actors with
//! components, and a tick that calls their events. Everything is declared through the facade of the runtime, as any
//! embedder would.

mod actor;
mod component;
pub mod math;
mod tick;
mod world;

use alcedo_runtime::native::Natives;

/// The package of all classes and structs here.
pub const PACKAGE: &str = "Engine";

/// Path of the actor class.
pub const ACTOR: &str = "/Script/Engine.Actor";

/// Path of the component class.
pub const ACTOR_COMPONENT: &str = "/Script/Engine.ActorComponent";

/// Path of the component that has a place.
pub const SCENE_COMPONENT: &str = "/Script/Engine.SceneComponent";

/// Path of the world class.
pub const WORLD: &str = "/Script/Engine.World";

/// The native classes `World`, `Actor`, `ActorComponent`, `SceneComponent`, their structs, and what drives them: begin
/// play when an object is first seen, tick once a frame for those that want it, end play before an actor is destroyed.
pub fn natives() -> Natives {
    let natives = Natives::in_package(PACKAGE)
        .structure(math::vector())
        .structure(math::rotator())
        .class(component::actor_component())
        .class(component::scene_component())
        .class(actor::actor())
        .class(world::world());
    tick::drive(natives)
}
