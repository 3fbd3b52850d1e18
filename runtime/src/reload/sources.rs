//! Inputs from which a reload computes the new values of one object. These are the body of the object, and the bodies of the old and new
//! templates.

use std::rc::Rc;

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::convert::{convert_in_part, rejoin};
use crate::object::dormant::{Aside, Dormant, RemovedValues};
use crate::object::fixed::Extent;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::value::{Value, names_object};
use crate::reload::class_mapping::ClassMapping;
use crate::reload::conversion::Conversions;
use crate::reload::defaults::PropertyDefault;
use crate::reload::plan::{AddedNames, ClassPlan};

#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) core: &'a Core,
    /// Class mapping for referenced objects. Some of these objects already have new bodies.
    pub(super) mapping: &'a ClassMapping,
}

impl Surroundings<'_> {
    /// Checks if the type accepts the class of each object in the value. Uses the class that each object has after the reload. Accepts
    /// destroyed and dormant objects, because these objects have no class after the reload.
    pub(super) fn suits(self, ty: &PropertyType, value: &Value) -> bool {
        let class_of = |object| self.mapping.class_after(self.core, object);
        self.core.world.check_objects_as(ty, value, String::new, &class_of).is_ok()
    }
}

#[derive(Clone, Copy)]
pub(super) struct Carried {
    pub(super) object: ObjectHandle,
    /// Old and new template of a subobject. `None` if the templates are the class default objects. The templates of a subobject are stored
    /// in the class default objects of the owner. Their values may differ from the defaults of the subobject's class.
    pub(super) templates: Option<(ObjectHandle, ObjectHandle)>,
}

/// Object with the three bodies from which its new values are computed.
pub(super) struct Sources<'a> {
    /// Name of the object's class in the report.
    pub(super) label: &'a str,
    pub(super) around: Surroundings<'a>,
    pub(super) object: ObjectHandle,
    pub(super) own: View<'a>,
    pub(super) dormant: Option<&'a Dormant>,
    pub(super) removed: Option<&'a RemovedValues>,
    pub(super) old_cdo: ObjectHandle,
    pub(super) old_default: View<'a>,
    pub(super) new_cdo: ObjectHandle,
    pub(super) new_default: View<'a>,
    pub(super) added_names: &'a AddedNames,
    pub(super) conversions: &'a Conversions,
}

pub(super) fn with_sources<R>(
    around: Surroundings<'_>,
    carried: Carried,
    plan: &ClassPlan,
    work: impl FnOnce(&Sources<'_>) -> Result<R, CallError>,
) -> Result<R, CallError> {
    let objects = &around.core.world.objects;
    let own_classes = (plan.old.cdo.get(), plan.new.cdo.get());
    let Carried { object, templates } = carried;
    let is_of = |template, class: &Rc<Class>| objects.class_id(template) == Some(class.id);
    let templates = templates.filter(|(old, new)| is_of(*old, &plan.old) && is_of(*new, &plan.new));
    let (old_cdo, new_cdo) = templates.unwrap_or(own_classes);
    objects.with_bodies([object, old_cdo, new_cdo], |[own, old, new]| {
        work(&Sources {
            label: &plan.label,
            around,
            object,
            own: own.view(),
            dormant: own.dormant.as_deref(),
            removed: own.removed.as_deref(),
            old_cdo,
            old_default: old.view(),
            new_cdo,
            new_default: new.view(),
            added_names: &plan.added_names,
            conversions: &plan.conversions,
        })
    })
}

/// Returns the object's own value of a property of the old class, merged with the value that was put aside. If the two values differ, the
/// result contains both. Returns `None` if the object has the default.
pub(super) fn own_value(
    sources: &Sources<'_>,
    property: &Property,
    was: Option<&PropertyDefault>,
    earlier: Option<Aside>,
) -> Result<Option<Aside>, CallError> {
    let has_default = has_default(sources, property, was)?;
    let Some(mut earlier) = earlier else {
        return if has_default { Ok(None) } else { sources.own.read(property).map(|own| Some(own.into())) };
    };
    let now = sources.own.read(property)?;
    let default = sources.old_default.read(property)?;
    let world = &sources.around.core.world;
    // A write to the property discards the original of an author-defined conversion and the values for a redo.
    let is_written = earlier.instead.as_ref().map_or(!has_default, |instead| *instead != now);
    if is_written && !earlier.discard_derived() {
        return Ok((!has_default).then(|| now.into()));
    }
    let joined = || rejoin(&now, &earlier, property, Some(&default), &world.names, world);
    if has_default {
        let held = convert_in_part(&earlier.value, property, Some(&default), &world.names, world);
        let extent = held.as_ref().map_or(Extent::OneWay, |(_, extent)| *extent);
        match earlier.instead.clone().or(held.map(|(part, _)| part)) {
            // The property still contains the fitting part of the value that was put aside.
            Some(part) if part == now => {
                let instead = joined().and_then(|own| own.instead);
                return Ok(Some(Aside { instead, ..earlier }));
            }
            Some(part)
                if (earlier.instead.is_some() || part == earlier.value)
                    && !(names_object(&part) && names_object(&earlier.value)) =>
            {
                // The property can hold the whole value. Code has therefore written the default later.
                if extent == Extent::OneWay {
                    return Ok(None);
                }
            }
            // The property could not hold the value that was put aside. A redirect that was added later may allow a conversion now.
            _ => return Ok(Some(Aside { instead: None, ..earlier })),
        }
    }
    Ok(Some(joined().unwrap_or_else(|| now.clone().into())))
}

/// Returns the current value of a property of the old class. Returns `None` if the property has only a default, because the property cannot
/// hold the object's own value.
pub(super) fn held(
    sources: &Sources<'_>,
    property: &Property,
    was: Option<&PropertyDefault>,
    own: &Aside,
) -> Result<Option<Value>, CallError> {
    let now = sources.own.read(property)?;
    let is_held = own.instead.is_some() || own.value == now || !has_default(sources, property, was)?;
    Ok(is_held.then_some(now))
}

pub(super) fn has_default(
    sources: &Sources<'_>,
    property: &Property,
    was: Option<&PropertyDefault>,
) -> Result<bool, CallError> {
    let (own, default) = ((sources.object, sources.own), (sources.old_cdo, sources.old_default));
    was.map_or(Ok(false), |was| was.is_had(sources.around.core, property, own, default))
}
