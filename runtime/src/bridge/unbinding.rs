//! Updates delegates after a code change. If a function was renamed, its bindings receive the new name. Bindings to removed functions, or
//! to functions with changed signatures, are removed from every property. All objects whose class has a delegate property are checked,
//! because objects of modules that were not replaced may contain affected bindings. Objects without delegate properties are not accessed.

use std::collections::BTreeMap;

use crate::bridge::core::Core;
use crate::bridge::delegates::{bound_name, broken, holds_delegates, map_bindings};
use crate::object::World;
use crate::object::property::PropertyType;
use crate::object::value::{Binding, Value};

/// Removes broken bindings from all objects. Returns one line per property and reason, with the number of bindings.
pub(crate) fn unbind_broken(core: &Core) -> Vec<String> {
    let world = &core.world;
    let mut lines = BTreeMap::new();
    let (objects, delegates) = world.objects.with_properties(|property| holds_delegates(&property.ty));
    for object in objects {
        let Some(class) = world.objects.class(object) else { continue };
        for property in delegates.get(&class.id).into_iter().flatten() {
            let Ok(value) = world.objects.read_value(object, &property.text) else { continue };
            let mut reasons = Vec::new();
            let mended = mend(world, &property.ty, value.clone(), &mut reasons);
            if mended == value || world.objects.write_unasked(object, &property.text, &mended).is_err() {
                continue;
            }
            for reason in reasons {
                *lines.entry((format!("{}.{}", class.short_path(), property.text), reason)).or_insert(0_u64) += 1;
            }
        }
    }
    let line = |((property, reason), count): ((String, String), u64)| format!("{property}: {reason}: {count} unbound");
    lines.into_iter().map(line).collect()
}

/// Removes broken bindings from a value, and adds the reason for each removal to `reasons`. Also removes bindings without an object, which
/// a load creates for saved bindings to destroyed objects and to closures.
fn mend(world: &World, ty: &PropertyType, value: Value, reasons: &mut Vec<String>) -> Value {
    let Some(signature) = ty.signature() else {
        return value.map_parts(ty, &mut |ty, value| mend(world, ty, value, reasons));
    };
    map_bindings(value, |binding| {
        let binding = of_new_class(world, of_today(world, binding));
        let reason = broken(world, signature, &binding);
        let is_kept = reason.is_none() && !binding.object.is_none();
        reasons.extend(reason);
        is_kept.then_some(binding)
    })
}

/// Redirects a binding from a replaced class default object to the new class default object. Bindings to static functions of scripts need
/// this redirect, because they refer to class default objects.
fn of_new_class(world: &World, mut binding: Binding) -> Binding {
    let class = world.objects.class(binding.object).filter(|class| class.cdo.get() == binding.object);
    let now = class.and_then(|class| world.types.class_by_path(&class.path)).map(|class| class.cdo.get());
    binding.object = now.filter(|now| !now.is_none()).unwrap_or(binding.object);
    binding
}

/// Updates the function name in a binding if the function was renamed.
fn of_today(world: &World, binding: Binding) -> Binding {
    Binding { function: world.names.intern(&bound_name(world, &binding)), ..binding }
}
