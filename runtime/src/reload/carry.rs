//! Carries the values of one object into its new body, according to the migration plan of the class.

use std::rc::Rc;

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::object::body::Body;
use crate::object::convert::convert_in_part;
use crate::object::dormant::{Aside, Dormant, KeptField, KeptValue, RemovedValues};
use crate::object::fixed;
use crate::object::fixed::Extent;
use crate::object::property::Property;
use crate::object::value::Value;
use crate::object::values::fits;
use crate::reload::changes::{CUT, PropertyChange};
use crate::reload::compiled::{carry_plain, names_template};
use crate::reload::conversion::PendingConversion;
use crate::reload::converted::{Later, leave_to_whole, own_conversion, whole_conversions};
use crate::reload::defaults::{OwnReference, PropertyDefault};
use crate::reload::object_plan::ObjectPlan;
use crate::reload::plan::{Action, ClassPlan, is_renamed, is_subobject, is_transient};
use crate::reload::references;
use crate::reload::sources::{Carried, Sources, Surroundings, has_default, held, own_value, with_sources};

/// Values of one object that differ from the defaults: the object's own values. Each has the name of its property.
pub(super) type OwnValues = Vec<(Rc<str>, Value)>;

/// Report text for a removed property.
const REMOVED: &str = "removed";

/// Source of the new value of one property.
enum Decision<'p> {
    /// The object's own value, copied from this old property without a conversion.
    Copy(&'p Property),
    Write(Value),
    /// Result of a conversion that runs later. Until then, the property has its default, and the pending conversion contains the old value.
    Convert(PendingConversion, &'p PropertyDefault),
    Default(&'p PropertyDefault),
    /// Leaves the property unset. A later step sets the property.
    Leave,
}

/// Fills the new body of one object with the carried values. The body has the layout of the new class.
pub(super) fn carry(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    changes: &mut Vec<PropertyChange>,
    later: &mut Later,
) -> Result<Body, CallError> {
    let object = carried.object;
    let mut body = Body::new(&plan.new);
    if carry_plain(around, carried, plan, (Some(&body), &mut *changes))? {
        return Ok(body);
    }
    body.removed = with_sources(around, carried, plan, |sources| {
        let mut removed = sources.removed.cloned().unwrap_or_default();
        let mut whole = whole_conversions(sources, plan)?;
        for (property, action) in &plan.actions {
            if leave_to_whole(sources, (property, action), &mut whole, (&mut *changes, &mut removed))? {
                continue;
            }
            let own = match decide(sources, (property, action), (&mut *changes, &mut removed))? {
                Decision::Copy(from) => body.view().copy_from(property, sources.own, from).map(|()| None)?,
                Decision::Write(value) => body.view().write(property, &value).map(|()| None)?,
                Decision::Convert(conversion, default) => {
                    later.conversions.push(conversion);
                    default.give(property, body.view(), sources.new_default).map(|_own_parts| None)?
                }
                Decision::Default(default) => {
                    let own = default.give(property, body.view(), sources.new_default)?;
                    let is_overridden = is_overridden_reference(sources, plan, property, default)?;
                    own.or(is_overridden.then_some(PropertyDefault::OwnParts))
                }
                Decision::Leave => None,
            };
            let property = &property.text;
            later.to_own.extend(own.map(|to| OwnReference { object, property: Rc::clone(property), to }));
        }
        later.conversions.extend(whole);
        keep_removed(sources, plan, changes, &mut removed)?;
        Ok(removed.boxed())
    })?;
    Ok(body)
}

/// Checks if the owner of a subobject overrides a default with a reference to a template, such as the owner's class default object. The
/// subobject then refers to its own owner instead.
fn is_overridden_reference(
    sources: &Sources<'_>,
    plan: &ClassPlan,
    property: &Property,
    default: &PropertyDefault,
) -> Result<bool, CallError> {
    let is_of_class = sources.new_cdo == plan.new.cdo.get();
    if is_of_class || !matches!(default, PropertyDefault::Value) || !property.ty.names_objects() {
        return Ok(false);
    }
    names_template(sources, property)
}

/// Returns the object's own values, to be set after the object is constructed again, and the values that are put aside. Omits transient
/// properties, and values that equal the old default. Also returns the template with the new defaults.
pub(super) fn own_values(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    (changes, later): (&mut Vec<PropertyChange>, &mut Later),
) -> Result<(OwnValues, Option<Box<RemovedValues>>, ObjectHandle), CallError> {
    with_sources(around, carried, plan, |sources| {
        let mut values = Vec::new();
        let mut removed = sources.removed.cloned().unwrap_or_default();
        let mut whole = whole_conversions(sources, plan)?;
        for (property, action) in plan.actions.iter().filter(|(property, _)| !is_transient(property)) {
            if leave_to_whole(sources, (property, action), &mut whole, (&mut *changes, &mut removed))? {
                continue;
            }
            match decide(sources, (property, action), (&mut *changes, &mut removed))? {
                Decision::Copy(from) => values.push((Rc::clone(&property.text), sources.own.read(from)?)),
                Decision::Write(value) => values.push((Rc::clone(&property.text), value)),
                Decision::Convert(conversion, _) => later.conversions.push(conversion),
                Decision::Default(_) | Decision::Leave => {}
            }
        }
        later.conversions.extend(whole);
        keep_removed(sources, plan, changes, &mut removed)?;
        Ok((values, removed.boxed(), sources.new_cdo))
    })
}

/// Returns the values that an object keeps while its class is missing. `fields` contains the kept fields of the plugin part.
pub(super) fn asleep(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    fields: Vec<KeptField>,
    (body, changes): (&mut Body, &mut [PropertyChange]),
) -> Result<Dormant, CallError> {
    let mut values = Vec::new();
    let mut before = None;
    let mut removed = body.removed.take().map_or_else(RemovedValues::default, |removed| *removed);
    with_sources(around, carried, plan, |sources| {
        for (property, was, change) in &plan.left {
            let own = own_value(sources, property, Some(was), removed.take(&property.text))?;
            let change = &mut changes[*change];
            *if own.is_some() { &mut change.dormant } else { &mut change.followed } += 1;
            let kept = own.map(|own| {
                let own = own.of_type(&property.ty);
                let now = own.instead.clone().unwrap_or_else(|| own.value.clone());
                // Also puts the value aside, because the property may have a different type when its class returns.
                removed.put(&property.text, Aside { instead: Some(now.clone()), ..own });
                now
            });
            values.push((Rc::clone(&property.text), kept));
        }
        // The object remains dormant with the body of a base class, and keeps all values that do not fit into this body. If a base class
        // has returned, its properties can hold some of these values again.
        before = sources.dormant.map(|dormant| {
            let can_hold = |property: &Property, value: &KeptValue| {
                value.clone().is_some_and(|value| fitting(sources, property, &value.into()).is_some())
            };
            let restored = plan.restored(dormant, can_hold);
            let mut left = dormant.clone();
            left.values.retain(|(name, _)| !restored.contains(&**name));
            left
        });
        Ok(())
    })?;
    body.removed = removed.boxed();
    let Some(mut dormant) = before else {
        let mut bases: Vec<_> = plan.old.module_chain().iter().map(|class| Rc::clone(&class.path)).collect();
        bases.pop();
        return Ok(Dormant { class: Rc::clone(&plan.old.path), bases, values, fields });
    };
    for (_, value) in &dormant.values {
        let change = &mut changes[plan.asleep];
        *if value.is_none() { &mut change.followed } else { &mut change.dormant } += 1;
    }
    for (name, value) in values {
        // The base class may have had a property with the name of a dormant value. Keeps one value per name: the newer one, unless only the
        // older one differs from its default.
        match dormant.values.iter_mut().find(|(known, _)| *known == name) {
            None => dormant.values.push((name, value)),
            Some((_, older)) if value.is_some() => *older = value,
            Some(_) => {}
        }
    }
    dormant.fields.extend(fields);
    Ok(dormant)
}

/// Puts the values of removed properties aside, except values that equal the default.
fn keep_removed(
    sources: &Sources<'_>,
    plan: &ClassPlan,
    changes: &mut Vec<PropertyChange>,
    removed: &mut RemovedValues,
) -> Result<(), CallError> {
    for (property, was, change) in &plan.removed {
        remove(sources, (property, Some(was)), &mut changes[*change], removed)?;
    }
    // A dormant object may have values for properties that the new build of its class lacks.
    let asleep = sources.dormant.filter(|_| !matches!(plan.object_plan, ObjectPlan::Dormant { .. }));
    let Some(dormant) = asleep else { return Ok(()) };
    let restored = plan.restored(dormant, |_property, _value| true);
    for (name, value) in &dormant.values {
        if !restored.contains(&**name) {
            let change = PropertyChange::line(changes, &plan.label, name, REMOVED);
            let own = value.as_ref().map(|value| removed.take_original(name, value));
            put_aside((name, own), &mut changes[change], removed);
        }
    }
    Ok(())
}

/// Puts the object's own value of a removed property aside.
fn remove(
    sources: &Sources<'_>,
    (property, was): (&Rc<Property>, Option<&PropertyDefault>),
    change: &mut PropertyChange,
    removed: &mut RemovedValues,
) -> Result<(), CallError> {
    let own = own_value(sources, property, was, removed.take(&property.text))?;
    put_aside((&property.text, own.map(|own| own.of_type(&property.ty))), change, removed);
    Ok(())
}

/// Puts the object's own value aside and counts the value. `own` is `None` if the object had the default.
fn put_aside((name, own): (&Rc<str>, Option<Aside>), change: &mut PropertyChange, removed: &mut RemovedValues) {
    match own {
        Some(own) => {
            removed.put(name, own);
            change.dormant += 1;
        }
        None => change.followed += 1,
    }
}

/// Copies the object's own value of a property. If the value equals the new default, also puts the value aside, so that the property does
/// not follow later defaults.
fn keep<'p>(
    sources: &Sources<'_>,
    property: &Property,
    (from, default): (&'p Rc<Property>, &PropertyDefault),
    removed: &mut RemovedValues,
) -> Result<Decision<'p>, CallError> {
    if matches!(default, PropertyDefault::Value) && sources.own.equal(from, sources.new_default, property)? {
        removed.put(&property.text, Aside::from(sources.own.read(from)?).of_type(&from.ty));
    }
    Ok(Decision::Copy(from))
}

fn decide<'p>(
    sources: &Sources<'_>,
    (property, action): (&Rc<Property>, &'p Action),
    (changes, removed): (&mut Vec<PropertyChange>, &mut RemovedValues),
) -> Result<Decision<'p>, CallError> {
    let restored = take_restored(sources, (property, action), (&mut *changes, &mut *removed))?;
    let is_restored = restored.is_some();
    let (own, default, change, lost, is_same) = match action {
        Action::Carry { default, change, .. } | Action::Convert { default, change, .. } if is_restored => {
            (restored, default, *change, Some(""), true)
        }
        Action::Carry { from, was, default, change } => {
            let earlier = removed.take(&from.text);
            let is_checked = is_checked(property);
            if !is_checked && (earlier.is_none() || is_subobject(property)) {
                earlier.into_iter().for_each(|earlier| removed.put(&property.text, earlier));
                if has_default(sources, from, was.as_ref())? {
                    changes[*change].followed += 1;
                    return Ok(Decision::Default(default));
                }
                changes[*change].kept += 1;
                return keep(sources, property, (from, default), removed);
            }
            // A value in `earlier` may refer to objects that the property accepts again.
            let is_as_before = earlier.is_none() && !fixed::has_fixed(property);
            let own = own_value(sources, from, was.as_ref(), earlier)?;
            if is_as_before && own.as_ref().is_some_and(|own| sources.around.suits(&property.ty, &own.value)) {
                changes[*change].kept += 1;
                return keep(sources, property, (from, default), removed);
            }
            (own, default, *change, is_checked.then_some(references::MOVED), true)
        }
        Action::Convert { from, was, default, change, is_same } => {
            // `earlier` was put aside under an older type of the property. The current type may accept this value again.
            let earlier = removed.take(&from.text);
            (own_value(sources, from, was.as_ref(), earlier)?, default, *change, Some(""), *is_same)
        }
        Action::Restore { names: known, default, change } => {
            let asleep =
                sources.dormant.and_then(|dormant| known.iter().find_map(|name| Some((name, dormant.value(name)?))));
            let own = match asleep {
                Some((name, kept)) => {
                    let own = match kept {
                        Some(value) => Some(removed.take_original(name, value)),
                        None => {
                            removed.take(name);
                            None
                        }
                    };
                    match (**name != *property.text).then(|| removed.take(&property.text)).flatten() {
                        // Puts the object's own value aside under the old name. Both values can then be restored under their names.
                        Some(restored) => {
                            let change = PropertyChange::line(changes, sources.label, name, REMOVED);
                            put_aside((&Rc::from(&**name), own), &mut changes[change], removed);
                            Some(restored)
                        }
                        None => own,
                    }
                }
                None => removed.take(&property.text).or_else(|| known.iter().find_map(|name| removed.take(name))),
            };
            (own, default, *change, Some(""), true)
        }
        Action::Subobject => return Ok(Decision::Leave),
    };
    let Some(own) = own else {
        changes[change].followed += 1;
        return Ok(Decision::Default(default));
    };
    let own = if is_restored { own.undone(&property.ty) } else { undone(sources, (property, action), own)? };
    if !is_restored && let Some(conversion) = own_conversion(sources, (property, action), &own)? {
        changes[change].count_conversion();
        return Ok(Decision::Convert(conversion, default));
    }
    let own = redone(sources, property, own);
    let fitting = fitting(sources, property, &own);
    let (words, which): (_, fn(&mut PropertyChange) -> &mut u64) = match (&fitting, lost) {
        // An earlier reload has already reported that a part of this value is put aside.
        (Some((_, extent)), None) if extent.is_part() => ("", |change| &mut change.kept),
        (Some((_, extent)), Some(_)) if extent.is_part() => (CUT, |change| &mut change.dormant),
        (Some(_), _) if is_same => ("", |change| &mut change.kept),
        (Some(_), _) => ("", |change| &mut change.converted),
        (None, None) => ("", |change| &mut change.followed),
        (None, Some(lost)) => (lost, |change| &mut change.defaulted),
    };
    if changes[change].change.is_empty() {
        words.clone_into(&mut changes[change].change);
    }
    *which(&mut changes[change]) += 1;
    // If the object's own value equals the new default, puts the whole value aside, so that the property does not follow later defaults.
    let is_default = match (&fitting, default) {
        (Some((value, _)), PropertyDefault::Value) => sources.new_default.read(property)? == *value,
        _ => false,
    };
    let own = match action {
        Action::Carry { from, .. } | Action::Convert { from, .. } => own.of_type(&from.ty),
        Action::Restore { .. } | Action::Subobject => own,
    };
    let aside = match &fitting {
        Some((value, extent)) if !is_default => extent.aside(own, value),
        Some((value, _)) => Some(Aside { instead: Some(value.clone()), ..own }),
        None => Some(Aside { instead: None, ..own }),
    };
    if let Some(aside) = aside {
        removed.put(&property.text, aside);
    }
    Ok(fitting.map_or(Decision::Default(default), |(value, _)| Decision::Write(value)))
}

/// Undoes a conversion. If the property has the original type again, restores the original value. Stores the replaced value for a redo,
/// unless the built-in conversion rules can compute the replaced value from the original value.
fn undone(sources: &Sources<'_>, (property, action): (&Property, &Action), own: Aside) -> Result<Aside, CallError> {
    let Action::Convert { from, was, .. } = action else { return Ok(own.undone(&property.ty)) };
    if !own.was_of(&property.ty) {
        return Ok(own);
    }
    let world = &sources.around.core.world;
    let (now, default) = (held(sources, from, was.as_ref(), &own)?, sources.old_default.read(from)?);
    let restored = own.clone().undone(&property.ty);
    let again = convert_in_part(&restored.value, from, Some(&default), &world.names, world).map(|(again, _)| again);
    let is_lost = now.is_some() && now != again;
    Ok(restored.with_redo(own.of_type(&from.ty), is_lost.then_some(&from.ty)))
}

/// Redoes a conversion. Returns the value that an undo has replaced, if this value has the type of the property. The object must still have
/// the original value, or a current value that cannot be converted. In all other cases, returns `own`.
fn redone(sources: &Sources<'_>, property: &Property, own: Aside) -> Aside {
    let Some(redone) = own.redone(&property.ty).filter(|redone| fitting(sources, property, redone).is_some()) else {
        return own;
    };
    if own.instead.is_none() || fitting(sources, property, &own).is_none() { redone } else { own }
}

/// Restores the value that was put aside or is dormant under the new name of a renamed property, if the property can hold the value. Then
/// puts the value of the old name aside. Both values can later be restored under their names.
fn take_restored(
    sources: &Sources<'_>,
    (property, action): (&Property, &Action),
    (changes, removed): (&mut Vec<PropertyChange>, &mut RemovedValues),
) -> Result<Option<Aside>, CallError> {
    let (Action::Carry { from, was, .. } | Action::Convert { from, was, .. }) = action else { return Ok(None) };
    if !is_renamed(from, property) {
        return take_added(sources, property, (from, was.as_ref()), removed);
    }
    let asleep = || sources.dormant?.value(&property.text)?.clone().map(Aside::from);
    let Some(restored) = removed.take(&property.text).or_else(asleep) else { return Ok(None) };
    if fitting(sources, property, &restored).is_none() {
        removed.put(&property.text, restored);
        return Ok(None);
    }
    let change = PropertyChange::line(changes, sources.label, &from.text, REMOVED);
    remove(sources, (from, was.as_ref()), &mut changes[change], removed)?;
    Ok(Some(restored))
}

/// Restores the value that was put aside under an earlier name which only the new build lists, if the property can hold the value. A
/// property with an own value keeps this value.
fn take_added(
    sources: &Sources<'_>,
    property: &Property,
    (from, was): (&Property, Option<&PropertyDefault>),
    removed: &mut RemovedValues,
) -> Result<Option<Aside>, CallError> {
    let Some(names) = sources.added_names.get(&property.text) else { return Ok(None) };
    if removed.get(&from.text).is_some() || !has_default(sources, from, was)? {
        return Ok(None);
    }
    let can_hold = |name: &&String| removed.get(name).is_some_and(|own| fitting(sources, property, own).is_some());
    let name = names.iter().find(can_hold);
    Ok(name.and_then(|name| removed.take(name)))
}

/// Checks if a value may become invalid although the type of the property is unchanged. The class of a referenced object may have changed.
/// The length of a fixed array may also have changed, because the property type does not include the length.
fn is_checked(property: &Property) -> bool {
    !is_subobject(property) && (property.ty.names_objects() || fixed::has_fixed(property))
}

/// Converts the object's own value to the type of the property, completely or in part. If the property has the original type again,
/// converts the original value. Otherwise converts the current value, unless the original value converts better.
fn fitting(sources: &Sources<'_>, property: &Property, own: &Aside) -> Option<(Value, Extent)> {
    let world = &sources.around.core.world;
    let default = if fixed::has_fixed(property) { sources.new_default.read(property).ok() } else { None };
    let fit = |value: &Value| {
        let (value, extent) = convert_in_part(value, property, default.as_ref(), &world.names, world)?;
        let suits = fits(&property.ty, &value).is_ok() && sources.around.suits(&property.ty, &value);
        suits.then_some((value, extent))
    };
    let original = fit(&own.value);
    let now = own.instead.as_ref().filter(|_| !own.is_of(&property.ty)).and_then(fit);
    match (now, original) {
        (Some((now, extent)), None) => Some((now, extent.and(Extent::OneWay))),
        // Prefers the current value, except if the type of the original value is unknown and the original value fits without a conversion.
        (Some((now, extent)), Some((value, other)))
            if extent <= other && now != value && !(own.ty == 0 && other == Extent::Whole) =>
        {
            Some((now, extent.and(Extent::OneWay)))
        }
        (_, original) => original,
    }
}

#[cfg(test)]
#[path = "carry/tests/in_place.rs"]
mod in_place;
#[cfg(test)]
#[path = "carry/tests/matrix.rs"]
mod matrix;
#[cfg(test)]
#[path = "carry/tests/sleep.rs"]
mod sleep;
#[cfg(test)]
mod tests;
