//! Components: objects that live inside an actor and add to it.

use alcedo_runtime::kinds::{PropertyKind, property_flags};
use alcedo_runtime::native::NativeClass;
use alcedo_runtime::{ObjectHandle, World};

use crate::actor::HAS_BEGUN_PLAY;
use crate::{ACTOR, ACTOR_COMPONENT, PACKAGE};

const OBJECT: &str = "/Script/Core.Object";

pub(crate) fn actor_component() -> NativeClass {
    let shown = property_flags::EDIT_ANYWHERE | property_flags::BLUEPRINT_READ | property_flags::BLUEPRINT_WRITE;
    NativeClass::new(PACKAGE, "ActorComponent", OBJECT)
        .doc("Lives inside an actor and adds to it.")
        .property("can_tick", (PropertyKind::BOOL, ""), shown, "")
        .property("owner", (PropertyKind::OBJECT, ACTOR), property_flags::BLUEPRINT_READ, "")
        .property(HAS_BEGUN_PLAY, (PropertyKind::BOOL, ""), property_flags::TRANSIENT, "")
        .event("component_begin_play", &[])
        .event("component_tick", &[("delta_seconds", (PropertyKind::F32, ""))])
        .member_docs(&[
            ("can_tick", "Whether it gets ticks."),
            ("owner", "Whose part it is."),
            (HAS_BEGUN_PLAY, "Whether begin play was called; the engine sets it."),
            ("component_begin_play", "The world began to play."),
            ("component_tick", "So many seconds went by."),
        ])
        .post_init_properties(belong)
}

pub(crate) fn scene_component() -> NativeClass {
    let shown = property_flags::EDIT_ANYWHERE | property_flags::BLUEPRINT_READ | property_flags::BLUEPRINT_WRITE;
    NativeClass::new(PACKAGE, "SceneComponent", ACTOR_COMPONENT)
        .doc("A component with a place relative to its actor.")
        .property("relative_location", (PropertyKind::STRUCT, "/Script/Engine.Vector"), shown, "")
        .property("relative_rotation", (PropertyKind::STRUCT, "/Script/Engine.Rotator"), shown, "")
        .member_docs(&[
            ("relative_location", "Where it is, seen from its owner."),
            ("relative_rotation", "How it is turned, seen from its owner."),
        ])
}

/// A component's owner is the actor it was made inside, where it was made inside one.
fn belong(world: &World, object: ObjectHandle) -> Result<(), String> {
    match world.outer_of(object).filter(|outer| world.is_a(*outer, ACTOR)) {
        Some(actor) => world.set(object, "owner", actor).map_err(|error| error.to_string()),
        None => Ok(()),
    }
}
