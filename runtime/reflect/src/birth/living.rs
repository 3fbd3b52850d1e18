//! What a reload does in a life that is under way: one more subobject, or a second birth under the same handle.

use std::rc::Rc;

use alcedo_base::border::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::World;
use crate::birth::{BirthFailed, BirthHooks, BirthStep, Copying, Midwife, Newborn, Pairs, TemplateOrigin};
use crate::class::Subobject;
use crate::value::Value;

/// Makes one more subobject of an object that lives already: a reload found that its class has it now. Game thread only.
///
/// # Errors
/// [`BirthFailed`] when a step of its birth fails; the owner is as it was.
pub fn add_subobject(
    world: &World,
    hooks: &dyn BirthHooks,
    owner: ObjectHandle,
    subobject: &Subobject,
) -> Result<ObjectHandle, BirthFailed> {
    let gone = |asked: &str| BirthFailed {
        class: asked.to_owned(),
        step: BirthStep::Subobject(asked.to_owned(), subobject.name.to_string()),
        object: owner.to_string(),
        message: CallError::Stale { handle: owner }.to_string(),
        place: None,
    };
    let class = world.objects.class(owner).ok_or_else(|| gone(&subobject.class_path))?;
    let midwife = Midwife { world, hooks, asked: &class };
    let flags = world.objects.flags(owner).unwrap_or(0);
    let template = Some(class.cdo.get()).filter(|cdo| world.objects.is_alive(*cdo) && *cdo != owner);
    let parent =
        Newborn { object: owner, class: class.clone(), template, origin: TemplateOrigin::Asked, parts: vec![] };
    let mut pairs: Vec<_> = template.map(|template| (template, owner)).into_iter().collect();
    let Some(part) = midwife.part(&parent, flags, subobject, &mut pairs)? else {
        let kept = world.objects.subobject(owner, &subobject.name);
        return kept.ok_or_else(|| gone(&subobject.class_path));
    };
    let outcome = midwife.or_destroy(&part, midwife.post_init(&part));
    if outcome.is_err() && world.objects.is_alive(owner) {
        let none = Value::Object(ObjectHandle::NONE);
        let cleared = world.objects.write_unasked(owner, &subobject.property.text, &none);
        cleared.expect("the property has just been written to");
    }
    outcome.map(|()| {
        midwife.count(&part);
        part.object
    })
}

/// A second birth under the same handle, into a body that is staged and zero: a reload found that the object's class sits
/// on another native class now. Subobjects that the class still has stay as they are. Game thread only.
///
/// # Errors
/// [`BirthFailed`] when a step fails. The object is not destroyed, since the shadow has its old body still.
pub fn rebirth(world: &World, hooks: &dyn BirthHooks, object: ObjectHandle) -> Result<(), BirthFailed> {
    let gone = || BirthFailed {
        class: String::new(),
        step: BirthStep::Archetype(String::new()),
        object: object.to_string(),
        message: CallError::Stale { handle: object }.to_string(),
        place: None,
    };
    let class = world.objects.class(object).ok_or_else(gone)?;
    let midwife = Midwife { world, hooks, asked: &class };
    let template = midwife.cdo_of(&class)?;
    world.objects.set_constructed(object, 0);
    let (template, origin, parts) = (Some(template), TemplateOrigin::Asked, Vec::new());
    let mut newborn = Newborn { object, class: Rc::clone(&class), template, origin, parts };
    let mut pairs: Pairs = template.map(|template| (template, object)).into_iter().collect();
    let flags = world.objects.flags(object).unwrap_or(0);
    midwife.grow(&mut newborn, flags, Copying::Later, &mut pairs)?;
    midwife.copy_values(&newborn, &pairs)?;
    midwife.post_init(&newborn)?;
    newborn.parts.iter().for_each(|part| midwife.count(part));
    Ok(())
}
