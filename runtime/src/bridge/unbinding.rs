//! After the code has changed: bindings of delegates to functions that are gone, or take something else now, are taken out,
//! wherever in an object they lie. Their objects may live in modules that were not touched, so all are looked at; but only
//! those whose class has a delegate at all.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::bridge::delegates::{broken, keep, signature_of};
use crate::handles::ClassId;
use crate::object::World;
use crate::object::property::{Property, PropertyType};
use crate::object::value::Value;

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
            let mended = mend(world, &property.ty, value, &mut reasons);
            if reasons.is_empty() || world.objects.write_unasked(object, &property.text, &mended).is_err() {
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
    match ty {
        PropertyType::Delegate(_) | PropertyType::MulticastDelegate(_) | PropertyType::SparseDelegate(_) => true,
        PropertyType::Struct(of) => of.fields().iter().any(|field| holds_delegates(&field.ty)),
        PropertyType::Array(of) => holds_delegates(of.ty()),
        PropertyType::Optional(of) => holds_delegates(of.ty()),
        // Keys cannot hold any.
        PropertyType::Map(of) => holds_delegates(of.value()),
        _ => false,
    }
}

/// The value without broken bindings; a reason for each that it had.
fn mend(world: &World, ty: &PropertyType, value: Value, reasons: &mut Vec<String>) -> Value {
    let mut each = |ty: &PropertyType, value| mend(world, ty, value, reasons);
    match (ty, value) {
        (PropertyType::Struct(of), Value::Struct(fields)) => {
            let field = |(name, value): (std::sync::Arc<str>, Value)| match of.field(&name) {
                Some(field) => (name, each(&field.ty, value)),
                None => (name, value),
            };
            Value::Struct(fields.into_iter().map(field).collect())
        }
        (PropertyType::Array(of), Value::Array(values)) => {
            Value::Array(values.into_iter().map(|value| each(of.ty(), value)).collect())
        }
        (PropertyType::Optional(of), Value::Optional(Some(value))) => {
            Value::Optional(Some(Box::new(each(of.ty(), *value))))
        }
        (PropertyType::Map(of), Value::Map(entries)) => {
            Value::Map(entries.into_iter().map(|(key, value)| (key, each(of.value(), value))).collect())
        }
        (ty, value) => match signature_of(ty) {
            Ok(signature) => {
                let found = crate::cells::RefCell::new(reasons);
                let stays = |binding: &_| match broken(world, signature, binding) {
                    Some(reason) => {
                        found.borrow_mut().push(reason);
                        false
                    }
                    None => true,
                };
                keep(value, stays).0
            }
            Err(_) => value,
        },
    }
}
