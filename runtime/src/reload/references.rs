//! Checks references in objects that a reload does not migrate. If the module of a referenced object was replaced, the bases of the
//! object's class may have changed. The property may then reject the object. For migrated objects, the migration checks the references.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::convert::{convert_in_part, rejoin};
use crate::object::dormant::Aside;
use crate::object::fixed::Extent;
use crate::object::property::Property;
use crate::object::value::{Value, names_object};
use crate::object::values::fits;
use crate::reload::class_mapping::class_awake;
use crate::reload::defaults::{OwnReference, PropertyDefault, refer_to_own, with_own_parts};
use crate::reload::plan::is_subobject;

/// Report text for a property that refers to objects whose class has changed.
pub(super) const MOVED: &str = "the referenced objects now have another class";

/// Checks the references in all properties. If a property does not accept a referenced object, resets the property to its default, and puts
/// the value aside. If a property accepts all objects in a value that was put aside, restores the value. All objects must have new bodies.
/// Returns one line per property, with the number of objects.
pub(super) fn check_all(core: &Core) -> Vec<String> {
    let mut lines = BTreeMap::new();
    let refers = |property: &Property| property.ty.names_objects() && !is_subobject(property);
    let (with_references, references) = core.world.objects.with_properties(refers);
    for object in with_references {
        let Some(class) = class_awake(core, object) else { continue };
        for property in references.get(&class.id).into_iter().flatten() {
            // Skips destroyed and borrowed objects. The next reload checks the objects that are borrowed now.
            if let Ok(Some(what)) = check(core, object, &class, property) {
                *lines.entry((format!("{}.{}", class.short_path(), property.text), what)).or_insert(0_u64) += 1;
            }
        }
    }
    let line = |((property, what), count): ((String, &str), u64)| format!("{property}: {MOVED}: {count} {what}");
    lines.into_iter().map(line).collect()
}

fn check(
    core: &Core,
    object: ObjectHandle,
    class: &Class,
    property: &Property,
) -> Result<Option<&'static str>, CallError> {
    let (world, objects, cdo) = (&core.world, &core.world.objects, class.cdo.get());
    let default = || objects.read_value(cdo, &property.text);
    let suits = |value: &Value| world.check_awake_objects_of(property, value).is_ok();
    let value = objects.read_value(object, &property.text)?;
    if !suits(&value) {
        let default = default()?;
        let joined = |mut earlier: Aside| {
            let is_needed = earlier.instead.as_ref() == Some(&value) || earlier.discard_derived();
            if is_needed { rejoin(&value, &earlier, property, Some(&default), &world.names, world) } else { None }
        };
        // If the property holds only a part of a value, puts the whole value aside, with all changes that code has made to the part.
        let earlier = objects.take_aside(object, &property.text).filter(|earlier| earlier.instead.is_some());
        let whole = earlier.and_then(joined).map(|own| Aside { instead: None, ..own });
        let whole = whole.unwrap_or_else(|| value.into()).of_type(&property.ty);
        objects.put_aside(object, &property.text, whole)?;
        let to = PropertyDefault::of(core, class, &default);
        if !matches!(to, PropertyDefault::OwnSubobject(_)) {
            objects.write_unasked(object, &property.text, &default)?;
        }
        refer_to_own(core, &OwnReference { object, property: Rc::clone(&property.text), to })?;
        return Ok(Some("got the default"));
    }
    if !objects.has_aside(object, &property.text) || value != with_own_parts(core, default()?, cdo, object) {
        return Ok(None);
    }
    let Some(earlier) = objects.take_aside(object, &property.text) else { return Ok(None) };
    // The property has its default, which contains the elements that a longer fixed array lacks.
    let again = convert_in_part(&earlier.value, property, Some(&value), &world.names, world);
    let is_back = |again: &Value| names_object(again) && fits(&property.ty, again).is_ok() && suits(again);
    // If the property held a part of the value, code has written the default since.
    let is_missing = |extent: &Extent| !extent.is_part() || earlier.instead.is_none();
    match again.filter(|(again, extent)| *again != value && is_missing(extent) && is_back(again)) {
        Some((again, extent)) => {
            objects.write_unasked(object, &property.text, &again)?;
            if let Some(left) = extent.aside(earlier, &again) {
                objects.put_aside(object, &property.text, left)?;
            }
            Ok(Some("got their own values back"))
        }
        None => objects.put_aside(object, &property.text, earlier).map(|()| None),
    }
}
