//! Values of one object that conversions of plugin authors compute, by the plan of its class.

use std::rc::Rc;
use std::sync::Arc;

use crate::boundary::CallError;
use crate::handles::ObjectHandle;
use crate::object::dormant::{Aside, RemovedValues};
use crate::object::function::Function;
use crate::object::property::Property;
use crate::object::value::Value;
use crate::reload::changes::PropertyChange;
use crate::reload::conversion::{PendingConversion, select};
use crate::reload::plan::{Action, ClassPlan, OwnReference};
use crate::reload::sources::{Sources, has_default, own_value};

/// Work on objects that waits until all of them have their new memory.
#[derive(Default)]
pub(super) struct Later {
    pub(super) conversions: Vec<PendingConversion>,
    pub(super) to_own: Vec<OwnReference>,
}

/// Returns the author's function that converts an own value, and the value in the form that the function takes.
pub(super) fn own_conversion(
    sources: &Sources<'_>,
    (property, action): (&Property, &Action),
    own: &Aside,
) -> Option<(Rc<Function>, Value, Aside)> {
    let functions = sources.conversions.get(&property.text)?;
    let live = match action {
        Action::Carry { from, .. } | Action::Convert { from, .. } => Some(&from.ty),
        Action::Restore { .. } | Action::Subobject => None,
    };
    let (function, argument) = select(&sources.around.core.world, functions, own, (&property.ty, live))?;
    let own = match live {
        Some(live) => own.clone().of_type(live),
        None => own.clone(),
    };
    Some((function, argument, own))
}

/// Creates the conversion of one property.
pub(super) fn pending(
    object: ObjectHandle,
    property: &Rc<Property>,
    (function, argument, own): (Rc<Function>, Value, Aside),
) -> PendingConversion {
    PendingConversion { object, function, argument, targets: vec![(Rc::clone(property), Some(own))] }
}

/// Returns the conversions of the object as a whole, with its old values: none if all of these are defaults.
pub(super) fn whole_conversions(sources: &Sources<'_>, plan: &ClassPlan) -> Result<Vec<PendingConversion>, CallError> {
    let mut found = Vec::new();
    for whole in &plan.whole {
        let (mut has_own, mut fields) = (false, Vec::new());
        for (property, was) in &whole.sources {
            has_own |= !has_default(sources, property, Some(was))?;
            fields.push((Arc::from(&*property.text), sources.own.read(property)?));
        }
        if has_own {
            found.push(PendingConversion {
                object: sources.object,
                function: Rc::clone(&whole.function),
                argument: Value::Struct(fields),
                targets: whole.targets.iter().map(|property| (Rc::clone(property), None)).collect(),
            });
        }
    }
    Ok(found)
}

/// Checks that a conversion of the whole object sets the property. The own value that the property had is then put aside with the result;
/// a value put aside earlier is discarded, since the old values are newer.
pub(super) fn is_converted(
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
            *original = own.map(|own| own.of_type(&from.ty));
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
