//! Arrays with a fixed number of elements: to a property an array like any other, of which its metadata says how many elements it has.
//! Here a value that comes from elsewhere gets that many.

use std::cell::Cell;

use crate::property::{Property, PropertyType};
use crate::value::Value;

/// The key of a property's metadata that says how many elements a fixed array has.
pub const ARRAY_DIM: &str = "array_dim";

/// How many elements a value of the property has, where that is fixed.
pub(crate) fn dim(property: &Property) -> Option<usize> {
    let PropertyType::Array(_) = property.ty else { return None };
    let (_, len) = property.meta.iter().find(|(key, _)| key == ARRAY_DIM)?;
    len.parse().ok()
}

/// Whether the number of elements of a value of the property, or of something in it, is fixed.
pub fn has_fixed(property: &Property) -> bool {
    let in_struct = |ty: &PropertyType| matches!(ty, PropertyType::Struct(of) if of.fields().iter().any(|field| dim(field).is_some()));
    dim(property).is_some() || property.ty.any(&in_struct)
}

/// The value with as many elements as the property has: the first ones of it, then those of the default. Sets `is_cut` if
/// the value had more.
pub(crate) fn at_length(property: &Property, value: Value, default: Option<&Value>, is_cut: &Cell<bool>) -> Value {
    let value = inside(&property.ty, value, is_cut);
    match (dim(property), value, &property.ty) {
        (Some(len), Value::Array(mut values), PropertyType::Array(of)) => {
            is_cut.set(is_cut.get() || values.len() > len);
            values.truncate(len);
            let default = match default {
                Some(Value::Array(default)) => &default[..],
                _ => &[],
            };
            while values.len() < len {
                values.push(default.get(values.len()).cloned().unwrap_or_else(|| Value::initial(of.ty())));
            }
            Value::Array(values)
        }
        (_, value, _) => value,
    }
}

/// The same for what is in a value, however deep.
pub(crate) fn inside(ty: &PropertyType, value: Value, is_cut: &Cell<bool>) -> Value {
    match (ty, value) {
        (PropertyType::Struct(of), Value::Struct(mut fields)) => {
            for (name, value) in &mut fields {
                if let Some(field) = of.field(name) {
                    let taken = std::mem::replace(value, Value::Bool(false));
                    *value = at_length(field, taken, field.default.as_ref(), is_cut);
                }
            }
            Value::Struct(fields)
        }
        (ty, value) => value.map_parts(ty, &mut |ty, value| inside(ty, value, is_cut)),
    }
}
