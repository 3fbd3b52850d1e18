//! Selects the conversion functions for the values of one object, according to the migration plan of the class.

use std::rc::Rc;
use std::sync::Arc;

use crate::boundary::CallError;
use crate::emit::conversions::types_of;
use crate::object::convert::convert;
use crate::object::dormant::{Aside, RemovedValues};
use crate::object::property::Property;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::conversion::{PendingConversion, select};
use crate::reload::defaults::OwnReference;
use crate::reload::plan::{Action, ClassPlan};
use crate::reload::sources::{Sources, held, own_value};

/// Conversions and references that must wait until all objects have new bodies.
#[derive(Default)]
pub(super) struct Later {
    pub(super) conversions: Vec<PendingConversion>,
    pub(super) to_own: Vec<OwnReference>,
}

/// Returns the conversion of the object's own value, if a conversion function accepts the value. The conversion also contains the value
/// from before the conversion, for an undo.
pub(super) fn own_conversion(
    sources: &Sources<'_>,
    (property, action): (&Rc<Property>, &Action),
    own: &Aside,
) -> Result<Option<PendingConversion>, CallError> {
    let Some(functions) = sources.conversions.get(&property.text) else { return Ok(None) };
    let held = match action {
        Action::Carry { from, was, .. } | Action::Convert { from, was, .. } => {
            held(sources, from, was.as_ref(), own)?.map(|now| (&from.ty, now))
        }
        Action::Restore { .. } | Action::Subobject => None,
    };
    let held = held.as_ref().map(|(live, now)| (*live, now));
    let world = &sources.around.core.world;
    let selected = select(world, world, functions, own, (&property.ty, held));
    Ok(selected.and_then(|(function, argument)| {
        let (from, _) = types_of(&function)?;
        if !sources.around.suits(from, &argument) {
            return None;
        }
        let original = match held {
            Some((live, _)) => own.clone().held_as(live),
            None => own.clone().retyped(from),
        };
        let targets = vec![(Rc::clone(property), Some(original))];
        Some(PendingConversion { object: sources.object, template: sources.new_cdo, function, argument, targets })
    }))
}

/// Returns the conversions of the whole object, with the old values as arguments. Omits a conversion if all its arguments are defaults, or
/// if the function does not accept the arguments.
pub(super) fn whole_conversions(sources: &Sources<'_>, plan: &ClassPlan) -> Result<Vec<PendingConversion>, CallError> {
    let mut found = Vec::new();
    for whole in &plan.whole {
        let (mut has_own, mut fields) = (false, Vec::new());
        for (property, was) in &whole.sources {
            let earlier = sources.removed.and_then(|removed| removed.get(&property.text)).cloned();
            if let Some(own) = own_value(sources, property, Some(was), earlier)? {
                has_own |= held(sources, property, Some(was), &own)?.is_some();
            }
            fields.push((Arc::from(&*property.text), sources.own.read(property)?));
        }
        let Some((from, _)) = types_of(&whole.function).filter(|_| has_own) else { continue };
        let world = &sources.around.core.world;
        let argument = convert(&Value::Struct(fields), from, &world.names, world);
        if let Some(argument) = argument.filter(|argument| sources.around.suits(from, argument)) {
            found.push(PendingConversion {
                object: sources.object,
                template: sources.new_cdo,
                function: Rc::clone(&whole.function),
                argument,
                targets: whole.targets.iter().map(|property| (Rc::clone(property), None)).collect(),
            });
        }
    }
    Ok(found)
}

/// Checks if a conversion of the whole object sets this property. If such a conversion exists, counts the property and leaves the property
/// unset. The conversion sets the property later. The own value of the property becomes the original for an undo. An older value that was
/// put aside is discarded.
pub(super) fn leave_to_whole(
    sources: &Sources<'_>,
    (property, action): (&Rc<Property>, &Action),
    whole: &mut [PendingConversion],
    (changes, removed): (&mut [PropertyChange], &mut RemovedValues),
) -> Result<bool, CallError> {
    let mut targets = whole.iter_mut().flat_map(|pending| &mut pending.targets);
    let Some((_, original)) = targets.find(|(target, _)| target.text == property.text) else { return Ok(false) };
    let change = match action {
        Action::Carry { from, was, change, .. } | Action::Convert { from, was, change, .. } => {
            let own = own_value(sources, from, was.as_ref(), removed.take(&from.text))?;
            *original = own.map(|own| own.held_as(&from.ty));
            *change
        }
        Action::Restore { names, change, .. } => {
            for name in names.iter().map(String::as_str).chain([&*property.text]) {
                removed.take(name);
            }
            *change
        }
        Action::Subobject => return Ok(false),
    };
    changes[change].converted += 1;
    Ok(true)
}
