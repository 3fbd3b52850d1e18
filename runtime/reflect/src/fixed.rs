//! Arrays with a fixed length: ordinary arrays whose length is in the metadata of the property. This module adjusts values
//! from other sources to that length.

use std::cell::Cell;

use crate::property::{Property, PropertyType};
use crate::value::Value;

/// Metadata key for the length of a fixed array.
pub const ARRAY_DIM: &str = "array_dim";

/// Returns the fixed length of an array property, if it has one.
pub(crate) fn dim(property: &Property) -> Option<usize> {
    let PropertyType::Array(_) = property.ty else { return None };
    let (_, len) = property.meta.iter().find(|(key, _)| key == ARRAY_DIM)?;
    len.parse().ok()
}

/// Checks that the property, or a nested type of it, has a fixed length.
pub fn has_fixed(property: &Property) -> bool {
    let in_struct = |ty: &PropertyType| matches!(ty, PropertyType::Struct(of) if of.fields().iter().any(|field| dim(field).is_some()));
    dim(property).is_some() || property.ty.any(&in_struct)
}

/// Truncates the value to the fixed length of the property, or extends it with elements of the default. Sets `is_cut` if
/// elements were removed.
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

/// Applies [`at_length`] to all nested values.
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
