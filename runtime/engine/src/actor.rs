//! `Actor`: an object with a place in the world.

use alcedo_runtime::kinds::{PropertyKind, function_flags, property_flags};
use alcedo_runtime::native::NativeClass;
use alcedo_runtime::{CallError, Frame, ObjectHandle, World};

use crate::math::{Rotator, Vector};
use crate::{PACKAGE, SCENE_COMPONENT};

const OBJECT: &str = "/Script/Core.Object";
const VECTOR: (PropertyKind, &str) = (PropertyKind::STRUCT, "/Script/Engine.Vector");
const ROTATOR: (PropertyKind, &str) = (PropertyKind::STRUCT, "/Script/Engine.Rotator");

/// Whether begin play was called; not for plugins.
pub(crate) const HAS_BEGUN_PLAY: &str = "has_begun_play";

pub(crate) fn actor() -> NativeClass {
    let shown = property_flags::EDIT_ANYWHERE | property_flags::BLUEPRINT_READ | property_flags::BLUEPRINT_WRITE;
    NativeClass::new(PACKAGE, "Actor", OBJECT)
        .doc("An object with a place in the world.")
        .property("location", VECTOR, shown, "")
        .property("rotation", ROTATOR, shown, "")
        .property("can_tick", (PropertyKind::BOOL, ""), shown, "")
        .property("seed", (PropertyKind::U32, ""), property_flags::BLUEPRINT_READ, "")
        .property("root_component", (PropertyKind::OBJECT, SCENE_COMPONENT), property_flags::BLUEPRINT_READ, "")
        .property("label", (PropertyKind::STRING, ""), shown, "")
        .property(HAS_BEGUN_PLAY, (PropertyKind::BOOL, ""), property_flags::TRANSIENT, "")
        .function("add_rotation", &[("delta", ROTATOR)], None, function_flags::CALLABLE, add_rotation)
        .function("add_location", &[("delta", VECTOR)], None, function_flags::CALLABLE, add_location)
        .function(
            "describe",
            &[],
            Some((PropertyKind::STRING, "")),
            function_flags::CALLABLE | function_flags::PURE,
            describe,
        )
        .event("receive_begin_play", &[])
        .event("receive_tick", &[("delta_seconds", (PropertyKind::F32, ""))])
        .event("receive_end_play", &[])
        .member_docs(&[
            ("location", "Where it is."),
            ("rotation", "How it is turned."),
            ("can_tick", "Whether it gets ticks."),
            ("seed", "A number of its own, for what looks random."),
            ("root_component", "The component that carries its place."),
            ("label", "A text for people."),
            (HAS_BEGUN_PLAY, "Whether begin play was called; the engine sets it."),
            ("add_rotation", "Turns it by `delta`."),
            ("add_location", "Moves it by `delta`."),
            ("describe", "Says what and where it is."),
            ("receive_begin_play", "The world began to play."),
            ("receive_tick", "So many seconds went by."),
            ("receive_end_play", "The actor leaves the play."),
        ])
        .post_init_properties(settle)
}

fn add_rotation(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let delta: Rotator = frame.take()?;
    frame.finish()?;
    let now: Rotator = world.get(frame.object(), "rotation")?;
    world.set(frame.object(), "rotation", now + delta)
}

fn add_location(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let delta: Vector = frame.take()?;
    frame.finish()?;
    let now: Vector = world.get(frame.object(), "location")?;
    world.set(frame.object(), "location", now + delta)
}

fn describe(world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
    frame.finish()?;
    let location: Vector = world.get(frame.object(), "location")?;
    let name = world.name_of(frame.object()).unwrap_or_default();
    frame.give_result(format!("{name} at ({:.2}, {:.2}, {:.2})", location.x, location.y, location.z))
}

/// Gives every actor a seed of its own, and makes the subobject that is declared as the root its root component.
fn settle(world: &World, object: ObjectHandle) -> Result<(), String> {
    let say = |error: CallError| error.to_string();
    if !world.is_template(object) {
        world.set(object, "seed", object.index()).map_err(say)?;
    }
    if let Some(component) = world.root_subobject(object) {
        world.set(object, "root_component", component).map_err(say)?;
    }
    Ok(())
}
