//! Constructs objects during a reload. Adds a subobject to an existing object, or reconstructs an object under its handle.

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::class::Subobject;
use crate::construction::{ConstructionFailed, ConstructionHooks, ConstructionStep, Constructor, Copying, NewObject};
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
    let template = Some(class.cdo.get()).filter(|cdo| world.objects.is_alive(*cdo) && *cdo != owner);
    let parent = NewObject::new(owner, &class, template);
    let mut pairs: Vec<_> = template.map(|template| (template, owner)).into_iter().collect();
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
/// class. Keeps the subobjects that the class still declares. Game thread only.
///
/// # Errors
/// Returns [`ConstructionFailed`] if a step fails. The object still exists after an error, because the shadow stores its old body.
pub fn reconstruct(
    world: &World,
    hooks: &dyn ConstructionHooks,
    object: ObjectHandle,
) -> Result<(), ConstructionFailed> {
    let stale = || stale(object, String::new(), ConstructionStep::Archetype(String::new()));
    let class = world.objects.class(object).ok_or_else(stale)?;
    let constructor = Constructor { world, hooks, requested: &class };
    let template = constructor.cdo_of(&class)?;
    world.objects.note_reconstruction(object);
    world.objects.set_constructed(object, 0);
    let mut new_object = NewObject::new(object, &class, Some(template));
    let mut pairs = vec![(template, object)];
    let flags = world.objects.flags(object).unwrap_or(0);
    constructor.grow(&mut new_object, flags, Copying::Later, &mut pairs)?;
    constructor.copy_values(&new_object, &pairs)?;
    constructor.post_init(&new_object)?;
    new_object.parts.iter().for_each(|part| constructor.count(part));
    Ok(())
}

/// Returns the error for an object that was destroyed before the step.
fn stale(object: ObjectHandle, class: String, step: ConstructionStep) -> ConstructionFailed {
    let message = CallError::Stale { handle: object }.to_string();
    ConstructionFailed { class, step, object: object.to_string(), message, place: None }
}
