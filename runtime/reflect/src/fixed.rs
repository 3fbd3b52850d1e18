//! Fixed arrays. A fixed array is an ordinary array whose length is specified in the metadata of its property. This module adjusts
//! converted values to that length.

use std::cell::Cell;
use std::cmp::Ordering;

use alcedo_base::boundary::CallError;
use alcedo_base::handles::ObjectHandle;

use crate::dormant::Aside;
use crate::property::{Property, PropertyType};
use crate::value::{Value, with_objects};

/// Metadata key for the length of a fixed array.
pub const ARRAY_DIM: &str = "array_dim";

/// Maximum length of a fixed array.
pub const MAX_FIXED_LEN: u32 = 65_536;

/// Extent to which a converted value preserves the fields and elements of the original value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// The converted value has all fields and elements.
    Whole,
    /// The converted value has all fields and elements, but the reverse conversion may return a different value. Either a fixed array
    /// received additional elements, or the original or converted value is an entry of an enum.
    OneWay,
    /// The converted value lacks some fields or elements.
    Part,
    /// The converted value lacks some fields or elements, and the reverse conversion of others may return a different value.
    PartOneWay,
}

impl Extent {
    /// Returns the extent of a value from the extents of two of its parts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self.max(other) {
            Self::Part if self.min(other) == Self::OneWay => Self::PartOneWay,
            extent => extent,
        }
    }

    /// Checks if the converted value lacks some fields or elements.
    pub fn is_part(self) -> bool {
        self >= Self::Part
    }

    /// Returns the value to save for an undo of the conversion to `instead`. Returns `None` if the conversion is reversible, and the
    /// original value has neither an earlier value nor redo values. If `instead` has all fields and elements, the saved value contains no
    /// objects. The saved value therefore does not keep objects alive.
    pub fn aside(self, original: impl Into<Aside>, instead: &Value) -> Option<Aside> {
        let without = |value: &Value| with_objects(value, &mut |_| ObjectHandle::NONE);
        let original = original.into();
        match self {
            Self::Whole if original.before.is_none() && original.redo.is_empty() => None,
            Self::Whole | Self::OneWay => {
                Some(Aside { value: without(&original.value), instead: Some(instead.clone()), ..original })
            }
            Self::Part | Self::PartOneWay => Some(Aside { instead: Some(instead.clone()), ..original }),
        }
    }
}

/// Returns the fixed length of a fixed array. Returns `None` for other properties, and for a length above [`MAX_FIXED_LEN`], because the
/// metadata of a module may contain any text.
pub fn dim(property: &Property) -> Option<u32> {
    let PropertyType::Array(_) = property.ty else { return None };
    let (_, len) = property.meta.iter().find(|(key, _)| key == ARRAY_DIM)?;
    len.parse().ok().filter(|len| *len <= MAX_FIXED_LEN)
}

/// Returns the fixed array that begins `offset` bytes after the start of a value with these properties, and its fixed length. Also finds
/// arrays in structs. Returns `None` if the array at this offset has no fixed length.
pub fn fixed_at<'p>(mut properties: impl Iterator<Item = &'p Property>, offset: usize) -> Option<(&'p Property, u32)> {
    properties.find_map(|property| {
        let inside = offset.checked_sub(property.offset as usize)?;
        match &property.ty {
            PropertyType::Struct(of) if inside < of.size() => fixed_at(of.fields().iter(), inside),
            PropertyType::Array(_) if inside == 0 => dim(property).map(|len| (property, len)),
            _ => None,
        }
    })
}

/// Formats the error for an access that changes the length of a fixed array in place.
pub fn wrong_length(property: &Property, fixed: u32, len: u32) -> CallError {
    let name = &property.text;
    CallError::other(format!(
        "{name} is a fixed array of {fixed} elements and cannot have {len}: overwrite its elements"
    ))
}

/// Checks if the property is a fixed array, or its type contains a struct with a fixed array.
pub fn has_fixed(property: &Property) -> bool {
    let in_struct = |ty: &PropertyType| matches!(ty, PropertyType::Struct(of) if of.fields().iter().any(|field| dim(field).is_some()));
    dim(property).is_some() || property.ty.any(&in_struct)
}

/// Truncates or extends the value to the fixed length of the property. Additional elements are copied from the default. Raises `extent` if
/// elements are added or removed.
pub(crate) fn at_length(property: &Property, value: Value, default: Option<&Value>, extent: &Cell<Extent>) -> Value {
    let value = inside(&property.ty, value, extent);
    match (dim(property), value, &property.ty) {
        (Some(len), Value::Array(mut values), PropertyType::Array(of)) => {
            let len = len as usize;
            let change = match values.len().cmp(&len) {
                Ordering::Less => Extent::OneWay,
                Ordering::Equal => Extent::Whole,
                Ordering::Greater => Extent::Part,
            };
            extent.set(extent.get().and(change));
            values.truncate(len);
            while values.len() < len {
                values.push(added(default, values.len(), of.ty()));
            }
            Value::Array(values)
        }
        (_, value, _) => value,
    }
}

/// Returns the value as the property holds it after a write: all fixed arrays in the value have their declared lengths.
pub fn as_written(property: &Property, value: Value) -> Value {
    at_length(property, value, property.default.as_ref(), &Cell::new(Extent::Whole))
}

/// Checks if each element at index `len` or above equals the element that [`at_length`] would add at its index.
pub(crate) fn is_filled_from(len: usize, values: &[Value], default: Option<&Value>, ty: &PropertyType) -> bool {
    values.iter().enumerate().skip(len).all(|(at, value)| *value == added(default, at, ty))
}

/// Returns the element that [`at_length`] adds at an index: the default's element at that index, or otherwise the initial value of the
/// element type.
fn added(default: Option<&Value>, at: usize, ty: &PropertyType) -> Value {
    let default = match default {
        Some(Value::Array(default)) => default.get(at).cloned(),
        _ => None,
    };
    default.unwrap_or_else(|| Value::initial(ty))
}

/// Applies [`at_length`] to all values nested in `value`.
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
