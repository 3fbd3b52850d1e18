//! Fixed arrays: ordinary arrays whose length is in the metadata of the property. This module adjusts values from other sources to that
//! length.

use std::cell::Cell;
use std::cmp::Ordering;

use alcedo_base::handles::ObjectHandle;

use crate::dormant::Aside;
use crate::property::{Property, PropertyType};
use crate::value::{Value, with_objects};

/// Metadata key for the length of a fixed array.
pub const ARRAY_DIM: &str = "array_dim";

/// Extent to which a converted value preserves the fields and elements of the original value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// The converted value has all fields and elements.
    Whole,
    /// The converted value has all fields and elements, but the reverse conversion may not return the original value. Either a fixed array
    /// received additional elements, or the original or converted value is an entry of an enum.
    OneWay,
    /// The converted value lacks some fields or elements.
    Part,
}

impl Extent {
    /// Returns the value to save for an undo of the conversion to `instead`. Returns `None` if the conversion is reversible, no function of
    /// a plugin author computed the value, and no value is kept for a redo. If `instead` has all fields and elements, the saved value
    /// contains no objects. It therefore neither keeps objects alive nor restores them.
    pub fn aside(self, original: impl Into<Aside>, instead: &Value) -> Option<Aside> {
        let without = |value: &Value| with_objects(value, &mut |_| ObjectHandle::NONE);
        let original = original.into();
        match self {
            Self::Whole if original.before.is_none() && original.redo.is_empty() => None,
            Self::Whole | Self::OneWay => {
                Some(Aside { value: without(&original.value), instead: Some(instead.clone()), ..original })
            }
            Self::Part => Some(Aside { instead: Some(instead.clone()), ..original }),
        }
    }
}

/// Returns the fixed length of an array property, if it has one.
pub(crate) fn dim(property: &Property) -> Option<usize> {
    let PropertyType::Array(_) = property.ty else { return None };
    let (_, len) = property.meta.iter().find(|(key, _)| key == ARRAY_DIM)?;
    len.parse().ok()
}

/// Checks that the property, or a type nested in its type, has a fixed length.
pub fn has_fixed(property: &Property) -> bool {
    let in_struct = |ty: &PropertyType| matches!(ty, PropertyType::Struct(of) if of.fields().iter().any(|field| dim(field).is_some()));
    dim(property).is_some() || property.ty.any(&in_struct)
}

/// Truncates the value to the fixed length of the property, or extends it with elements of the default. Raises `extent` if it adds or
/// removes elements.
pub(crate) fn at_length(property: &Property, value: Value, default: Option<&Value>, extent: &Cell<Extent>) -> Value {
    let value = inside(&property.ty, value, extent);
    match (dim(property), value, &property.ty) {
        (Some(len), Value::Array(mut values), PropertyType::Array(of)) => {
            let change = match values.len().cmp(&len) {
                Ordering::Less => Extent::OneWay,
                Ordering::Equal => Extent::Whole,
                Ordering::Greater => Extent::Part,
            };
            extent.set(extent.get().max(change));
            values.truncate(len);
            while values.len() < len {
                values.push(added(default, values.len(), of.ty()));
            }
            Value::Array(values)
        }
        (_, value, _) => value,
    }
}

/// Checks that all elements from `len` on equal the elements that [`at_length`] adds to an array of length `len`.
pub(crate) fn is_filled_from(len: usize, values: &[Value], default: Option<&Value>, ty: &PropertyType) -> bool {
    values.iter().enumerate().skip(len).all(|(at, value)| *value == added(default, at, ty))
}

/// Returns the element that [`at_length`] adds at an index: the default's element at that index. If the default has no such element,
/// returns the initial value.
fn added(default: Option<&Value>, at: usize, ty: &PropertyType) -> Value {
    let default = match default {
        Some(Value::Array(default)) => default.get(at).cloned(),
        _ => None,
    };
    default.unwrap_or_else(|| Value::initial(ty))
}

/// Applies [`at_length`] to all nested values.
pub(crate) fn inside(ty: &PropertyType, value: Value, extent: &Cell<Extent>) -> Value {
    match (ty, value) {
        (PropertyType::Struct(of), Value::Struct(mut fields)) => {
            for (name, value) in &mut fields {
                if let Some(field) = of.field(name) {
                    let taken = std::mem::replace(value, Value::Bool(false));
                    *value = at_length(field, taken, field.default.as_ref(), extent);
                }
            }
            Value::Struct(fields)
        }
        (ty, value) => value.map_parts(ty, &mut |ty, value| inside(ty, value, extent)),
    }
}
