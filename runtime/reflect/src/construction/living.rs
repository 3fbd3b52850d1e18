//! Constructs objects during a reload. Adds a subobject to an existing object, or reconstructs an object under its handle.

use std::rc::Rc;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::class::{Class, Subobject};
use crate::construction::{
    ConstructionFailed, ConstructionHooks, ConstructionStep, Constructor, Copying, NewObject, Pairs, StepError,
};
use crate::objects::Objects;
use crate::storage::Storage;
use crate::value::Value;

/// Adds a subobject to an existing object. Used after a reload has added the subobject to the object's class. Game thread only.
///
/// # Errors
/// Returns [`ConstructionFailed`] if a step of the subobject's construction fails. The owner is then unchanged.
pub fn add_subobject(
    world: &World,
    hooks: &dyn ConstructionHooks,
    owner: ObjectHandle,
    subobject: &Subobject,
) -> Result<ObjectHandle, ConstructionFailed> {
    let requested = || subobject.class_path.to_string();
    let step = || ConstructionStep::Subobject(requested(), subobject.name.to_string());
    let class = world.objects.class(owner).ok_or_else(|| stale(owner, requested(), step()))?;
    let constructor = Constructor { world, hooks, requested: &class };
    let flags = world.objects.flags(owner).unwrap_or(0);
    let template = template_of(world, owner, &class);
    let mut pairs = pairs_around(&world.objects, template, owner);
    // Excludes a subobject that the new subobject replaces.
    if let Some(replaced) = world.objects.subobject(owner, &subobject.name) {
        pairs.retain(|(_, part)| *part != replaced && !is_inside(&world.objects, *part, replaced));
    }
    let template = Some(template).filter(|template| world.objects.is_alive(*template) && *template != owner);
    let parent = NewObject::new(owner, &class, template);
    let Some(part) = constructor.part(&parent, flags, subobject, &mut pairs)? else {
        let kept = world.objects.subobject(owner, &subobject.name);
        return kept.ok_or_else(|| stale(owner, requested(), step()));
    };
    let outcome = constructor.complete(&part, Ok(()));
    if outcome.is_err() && world.objects.is_alive(owner) {
        let none = Value::Object(ObjectHandle::NONE);
        let cleared = world.objects.write_unasked(owner, &subobject.property.text, &none);
        cleared.expect("the property has just been written to");
    }
    outcome
}

/// Constructs an object a second time under its handle, in a zeroed staged body. Used after a reload has changed the object's native base
/// class. Copies the values of `template`, or of the CDO if `template` is `None`. Keeps the subobjects that the class still declares, with
/// their values. Game thread only.
///
/// # Errors
/// Returns [`ConstructionFailed`] if a step fails. The object still exists after an error, because the shadow stores its old body.
pub fn reconstruct(
    world: &World,
    hooks: &dyn ConstructionHooks,
    object: ObjectHandle,
    template: Option<ObjectHandle>,
) -> Result<(), ConstructionFailed> {
    let stale = || stale(object, String::new(), ConstructionStep::Archetype(String::new()));
    let class = world.objects.class(object).ok_or_else(stale)?;
    let constructor = Constructor { world, hooks, requested: &class };
    let template = template.map_or_else(|| constructor.cdo_of(&class), Ok)?;
    world.objects.note_reconstruction(object);
    world.objects.set_constructed(object, 0);
    let mut new_object = NewObject::new(object, &class, Some(template));
    let mut pairs = pairs_around(&world.objects, template, object);
    // Excludes the subobjects of the object itself, because the construction may replace these subobjects.
    pairs.retain(|(_, part)| !is_inside(&world.objects, *part, object));
    let flags = world.objects.flags(object).unwrap_or(0);
    let kept = copies_of_parts(&world.objects, object);
    constructor.grow(&mut new_object, flags, Copying::Later, &mut pairs)?;
    constructor.copy_values(&new_object, &pairs)?;
    constructor.post_init(&new_object)?;
    // A constructor may have destroyed some of the subobjects.
    for (part, copy) in kept.iter().filter(|(part, _)| world.objects.is_alive(*part)) {
        let restore = || -> Result<(), StepError> {
            world.objects.with_body_to_write(*part, |body| body.view().copy_all(copy.view()))?;
            Ok(())
        };
        constructor.step(object, || ConstructionStep::CopyValues(class.path.to_string()), restore)?;
    }
    new_object.parts.iter().for_each(|part| constructor.count(part));
    Ok(())
}

/// Copies the values of all direct and indirect subobjects of an object. The constructors of the object may write to these subobjects.
fn copies_of_parts(objects: &Objects, object: ObjectHandle) -> Vec<(ObjectHandle, Storage<Rc<Class>>)> {
    let (mut parts, mut copies) = (objects.children(object), Vec::new());
    while let Some(part) = parts.pop() {
        parts.extend(objects.children(part));
        let copy = objects.with_body(part, |body| body.storage.duplicate());
        copies.extend(copy.ok().map(|copy| (part, copy)));
    }
    copies
}

/// Returns the template of an existing object. The template of a subobject is the subobject with its name in the template of its owner. If
/// the owner's template lacks a subobject of this class, and for all other objects, the template is the CDO of the class.
fn template_of(world: &World, object: ObjectHandle, class: &Rc<Class>) -> ObjectHandle {
    let objects = &world.objects;
    let in_owner = || {
        let owner = objects.owner(object)?;
        let template = template_of(world, owner, &objects.class(owner)?);
        let part = objects.subobject(template, &world.names.text(objects.name(object)?))?;
        (objects.class_id(part) == Some(class.id)).then_some(part)
    };
    in_owner().unwrap_or_else(|| class.cdo.get())
}

/// Pairs the template of an existing object with the object, and the direct and indirect subobjects of the template with the object's own
/// subobjects. If the template is a subobject, also pairs its direct and indirect owners, and all their subobjects.
pub fn template_pairs(world: &World, object: ObjectHandle) -> Vec<(ObjectHandle, ObjectHandle)> {
    let Some(class) = world.objects.class(object) else { return Vec::new() };
    pairs_around(&world.objects, template_of(world, object, &class), object)
}

/// Pairs a template with its object, like [`existing_pairs`]. If the template is a subobject, also pairs its direct and indirect owners,
/// and all their subobjects.
fn pairs_around(objects: &Objects, mut template: ObjectHandle, mut object: ObjectHandle) -> Pairs {
    let mut pairs = existing_pairs(objects, template, object);
    while let (Some(around_template), Some(around)) = (objects.owner(template), objects.outer(object)) {
        (template, object) = (around_template, around);
        pairs.extend(existing_pairs(objects, template, object));
    }
    pairs
}

/// Returns the [`part_pairs`] whose second object exists.
pub(super) fn existing_pairs(objects: &Objects, template: ObjectHandle, object: ObjectHandle) -> Pairs {
    let mut pairs = part_pairs(objects, template, object);
    pairs.retain(|(_, own)| !own.is_none());
    pairs
}

/// Pairs a template with its object, and each direct and indirect subobject of the template with the object's own subobject of the same
/// name. If the object lacks this subobject, pairs the template's subobject with [`ObjectHandle::NONE`]. Game thread only.
pub fn part_pairs(
    objects: &Objects,
    template: ObjectHandle,
    object: ObjectHandle,
) -> Vec<(ObjectHandle, ObjectHandle)> {
    let (mut pairs, mut at) = (vec![(template, object)], 0);
    while let Some((template, object)) = pairs.get(at).copied() {
        let own = |name: &str| objects.subobject(object, name).unwrap_or(ObjectHandle::NONE);
        pairs.extend(objects.parts(template).into_iter().map(|(name, part)| (part, own(&name))));
        at += 1;
    }
    pairs
}

/// Checks if `part` is a direct or indirect subobject of `owner`.
fn is_inside(objects: &Objects, part: ObjectHandle, owner: ObjectHandle) -> bool {
    std::iter::successors(objects.owner(part), |around| objects.owner(*around)).any(|around| around == owner)
}

/// Returns the error for an object that was destroyed before the step.
fn stale(object: ObjectHandle, class: String, step: ConstructionStep) -> ConstructionFailed {
    let message = CallError::Stale { handle: object }.to_string();
    ConstructionFailed { class, step, object: object.to_string(), message, place: None }
}
