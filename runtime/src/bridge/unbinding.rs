//! After the code has changed: bindings of delegates to functions that are gone, or take something else now, are taken out,
//! wherever in an object they lie. Their objects may live in modules that were not touched, so all are looked at; but only
//! those whose class has a delegate at all.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::bridge::delegates::{broken, keep};
use crate::handles::ClassId;
use crate::object::World;
use crate::object::property::{Property, PropertyType};
use crate::object::value::{Binding, Value};

/// Takes broken bindings out of all objects. A line for each property and reason, with the number of bindings.
pub(crate) fn unbind_broken(core: &Core) -> Vec<String> {
    let world = &core.world;
    let mut holders: FxHashMap<ClassId, Vec<Rc<Property>>> = FxHashMap::default();
    let mut lines = BTreeMap::new();
    for object in world.objects.alive() {
        let Some(class) = world.objects.class(object) else { continue };
        let properties = holders.entry(class.id).or_insert_with(|| {
            class.properties.iter().filter(|property| holds_delegates(&property.ty)).cloned().collect()
        });
        for property in properties {
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

fn holds_delegates(ty: &PropertyType) -> bool {
    ty.any(&|ty| ty.signature().is_some())
}

/// The value without broken bindings; a reason for each that it had.
fn mend(world: &World, ty: &PropertyType, value: Value, reasons: &mut Vec<String>) -> Value {
    let Some(signature) = ty.signature() else {
        return value.map_parts(ty, &mut |ty, value| mend(world, ty, value, reasons));
    };
    let found = crate::cells::RefCell::new(reasons);
    let stays = |binding: &_| match broken(world, signature, binding) {
        Some(reason) => {
            found.borrow_mut().push(reason);
            false
        }
        None => true,
    };
    keep(of_new_class(world, value), stays).0
}

/// Binds to the class default object of the new class what was bound to that of a replaced one: static functions of scripts are.
fn of_new_class(world: &World, value: Value) -> Value {
    let mend = |mut binding: Binding| {
        let class = world.objects.class(binding.object).filter(|class| class.cdo.get() == binding.object);
        let now = class.and_then(|class| world.types.class_by_path(&class.path)).map(|class| class.cdo.get());
        binding.object = now.filter(|now| !now.is_none()).unwrap_or(binding.object);
        binding
    };
    match value {
        Value::Delegate(binding) => Value::Delegate(mend(binding)),
        Value::Multicast(all) => Value::Multicast(all.into_iter().map(mend).collect()),
        Value::Sparse(all) => Value::Sparse(all.into_iter().map(mend).collect()),
        other => other,
    }
}
