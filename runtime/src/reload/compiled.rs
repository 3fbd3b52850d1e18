//! Carries the values of objects by the compiled actions of their class. For most objects, these actions only compare values with defaults
//! and copy values. Objects whose values need no change keep their bodies.

use crate::boundary::CallError;
use crate::object::body::Body;
use crate::object::property::Property;
use crate::object::value::any_object;
use crate::reload::changes::PropertyChange;
use crate::reload::defaults::is_same_in_itself;
use crate::reload::plan::{CheckedTemplates, ClassPlan, Plain};
use crate::reload::sources::{Carried, Sources, Surroundings, with_sources};

/// Checks if an object can keep its body. The layout and the defaults of its class must be unchanged, and no value of the object may be put
/// aside. If the object can keep its body, counts its values for the report.
pub(super) fn stays(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    changes: &mut [PropertyChange],
) -> Result<bool, CallError> {
    let templates = carried.templates.unwrap_or((plan.old.cdo.get(), plan.new.cdo.get()));
    let differ = |plain: &Plain| {
        plain.checked.get().is_some_and(|(known, checked)| known == templates && !checked.has_same_defaults)
    };
    let may_stay = plan.plain.as_ref().is_some_and(|plain| plain.is_in_place && !differ(plain))
        && plan.added_subobjects.is_empty()
        && plan.removed_subobjects.is_empty();
    if may_stay { carry_plain(around, carried, plan, (None, changes)) } else { Ok(false) }
}

/// Carries the values of an object into `body` with the compiled actions of its class (`ClassPlan::plain`). Without `body`, the object
/// keeps its old body, and the values are only compared with the defaults. If the compiled actions cannot carry a value, counts no values
/// and returns `false`.
pub(super) fn carry_plain(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    (body, changes): (Option<&Body>, &mut [PropertyChange]),
) -> Result<bool, CallError> {
    let suits = |plain: &&Plain| around.mapping.is_settled || plain.references.is_empty();
    let Some(plain) = plan.plain.as_ref().filter(suits) else { return Ok(false) };
    with_sources(around, carried, plan, |sources| {
        if sources.removed.is_some() || sources.dormant.is_some() {
            return Ok(false);
        }
        let suits_templates = match body {
            Some(_) => sources.new_cdo == plan.new.cdo.get() || check_templates(plain, sources)?.suits_actions,
            None => check_templates(plain, sources)?.has_same_defaults,
        };
        if !suits_templates {
            return Ok(false);
        }
        let mut are_own = plain.are_own.take();
        let defaults = (sources.old_default, sources.new_default);
        let objects = &around.core.world.objects;
        let mut is_done = match body {
            Some(body) => plain.transfer.apply(body.view(), sources.own, defaults, &mut are_own),
            None => plain.transfer.compare(sources.own, defaults, &mut are_own),
        };
        if is_done {
            for (rule, property, name) in &plain.parts {
                let part = objects.subobject(sources.object, name);
                are_own[*rule] = part.is_none_or(|part| sources.own.get(property) != Ok(part));
            }
            // Rejects references to templates even if the mapping is settled, because the mapping contains only classes of living objects.
            for (_, property) in plain.references.iter().filter(|(rule, _)| are_own[*rule]) {
                is_done &= !any_object(&sources.own.read(property)?, |object| objects.is_template(object));
            }
        }
        if is_done {
            for (is_own, change) in are_own.iter().zip(&plain.changes) {
                let change = &mut changes[*change];
                *if *is_own { &mut change.kept } else { &mut change.followed } += 1;
            }
        }
        plain.are_own.set(are_own);
        Ok(is_done)
    })
}

/// Checks if the new default of a property refers to a template.
pub(super) fn names_template(sources: &Sources<'_>, property: &Property) -> Result<bool, CallError> {
    let objects = &sources.around.core.world.objects;
    Ok(any_object(&sources.new_default.read(property)?, |object| objects.is_template(object)))
}

/// Checks the old and the new template of an object. Caches the result, because most objects of a class have the same templates. The values
/// of templates do not change while bodies are staged.
#[inline]
fn check_templates(plain: &Plain, sources: &Sources<'_>) -> Result<CheckedTemplates, CallError> {
    let templates = (sources.old_cdo, sources.new_cdo);
    match plain.checked.get().filter(|(known, _)| *known == templates) {
        Some((_, checked)) => Ok(checked),
        None => {
            let checked = check_other_templates(plain, sources)?;
            plain.checked.set(Some((templates, checked)));
            Ok(checked)
        }
    }
}

/// Implements [`check_templates`] for templates without a cached result.
#[cold]
fn check_other_templates(plain: &Plain, sources: &Sources<'_>) -> Result<CheckedTemplates, CallError> {
    let mut is_same = true;
    for (from, to) in &plain.to_itself {
        let (before, after) = (sources.old_default.read(from)?, sources.new_default.read(to)?);
        is_same &= is_same_in_itself((&before, sources.old_cdo), (&after, sources.new_cdo));
    }
    let mut suits_actions = is_same;
    for property in &plain.overridable {
        suits_actions &= !names_template(sources, property)?;
    }
    let defaults = (sources.old_default, sources.new_default);
    Ok(CheckedTemplates { has_same_defaults: is_same && plain.transfer.has_equal_defaults(defaults), suits_actions })
}
