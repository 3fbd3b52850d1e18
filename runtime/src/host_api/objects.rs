//! Looks up, names, constructs and destroys objects for modules.

use std::rc::Rc;

use crate::boundary::{CallError, not_found};
use crate::bridge::calls::wrong_class;
use crate::bridge::collection::Requested;
use crate::bridge::core::Core;
use crate::bridge::rebuild::find_or_build;
use crate::handles::{ClassId, ModuleId, ObjectHandle, PartPtr};
use crate::object::construction::{ConstructionArgs, construct};

pub(super) fn object_resolve(core: &Core, object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    let stale = CallError::Stale { handle: object };
    let memory = core.world.objects.memory(object).ok_or_else(|| stale.clone())?;
    if class == ClassId::NONE {
        return Ok(memory);
    }
    if core.world.objects.class_id(object) == Some(class) {
        return Ok(memory);
    }
    let found = core.world.objects.class(object).ok_or(stale)?;
    let expected = core.world.types.class(class);
    if expected.as_ref().is_some_and(|expected| found.is_a(expected)) {
        return Ok(memory);
    }
    let expected = expected.as_ref().map_or("class that is gone", |expected| &*expected.path);
    Err(wrong_class(String::new(), object, &found, expected))
}

pub(super) fn object_part(
    core: &Core,
    module: ModuleId,
    object: ObjectHandle,
    class: ClassId,
) -> Result<PartPtr, CallError> {
    if !core.world.objects.is_alive(object) {
        return Err(CallError::Stale { handle: object });
    }
    let find = || core.pairs.part_of(&core.world.objects, object, class);
    let part = find_or_build(core, object, &format_args!("borrowing the plugin part of {object}"), find)?;
    Ok(part.filter(|part| part.gate.tag().id == module).map_or(PartPtr::NONE, |part| part.ptr))
}

pub(super) fn may_write(core: &Core, object: ObjectHandle) -> Result<(), CallError> {
    core.world.objects.may_write(object)
}

pub(super) fn object_name(core: &Core, object: ObjectHandle) -> Result<Rc<str>, CallError> {
    let name = core.world.objects.name(object).ok_or(CallError::Stale { handle: object })?;
    Ok(core.world.names.text(name))
}

pub(super) fn object_class(core: &Core, object: ObjectHandle) -> Result<Rc<str>, CallError> {
    let class = core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    Ok(Rc::clone(&class.path))
}

pub(super) fn object_path(core: &Core, object: ObjectHandle) -> Result<String, CallError> {
    core.world.path_of(object).ok_or(CallError::Stale { handle: object })
}

pub(super) fn spawn(core: &Core, class: ClassId, outer: ObjectHandle) -> Result<ObjectHandle, CallError> {
    if class == ClassId::NONE {
        return Err(CallError::other("`Object` itself cannot be spawned: name a class that extends it"));
    }
    let gone = || not_found("the class to spawn is gone: its generation has ended");
    let class = core.world.types.class(class).ok_or_else(gone)?;
    core.world.objects.may_contain(outer, &class)?;
    // An object without an outer is a root until its destruction, because no object refers to the new object.
    let args = ConstructionArgs { outer, root: outer.is_none(), ..ConstructionArgs::default() };
    construct(&core.world, &core.plugins(), &class, args).map_err(|error| CallError::other(error.to_string()))
}

pub(super) fn destroy(core: &Core, object: ObjectHandle) -> Result<(), CallError> {
    core.end_object(object)
}

pub(super) fn object_rename(
    core: &Core,
    object: ObjectHandle,
    name: String,
    outer: ObjectHandle,
) -> Result<(), CallError> {
    // Rejects the rename during a reload. A rollback could not undo the rename, because names are stored outside of the object bodies. This
    // also applies to objects whose body was replaced.
    if core.world.objects.predates_shadow(object) {
        return Err(CallError::DuringRebuild { action: format!("renaming {}", core.world.objects.display(object)) });
    }
    core.world.objects.may_write(object)?;
    core.world.rename(object, &name, outer)
}

pub(super) fn base_post_init(core: &Core, object: ObjectHandle, class: ClassId) -> Result<(), CallError> {
    let class = core.world.types.class(class);
    match class.as_ref().and_then(|class| class.base.as_ref()) {
        Some(base) => core.plugins().post_init(object, base).map_err(|failed| failed.error),
        None => Ok(()),
    }
}

pub(super) fn collect(core: &Core) -> Result<(), CallError> {
    core.collection.request(Requested::Whole);
    Err(CallError::Unavailable { what: "a collection inside a call, which is done at the next safe point".into() })
}
