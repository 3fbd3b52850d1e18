//! Whether a [`Value`] fits what it is to be written to: it is written only when all of it does.

use crate::property::PropertyType;
use crate::value::Value;
use crate::values::list::of_type;
use crate::values::{Content as _, Kind as _};

/// A value that does not fit the property it was to be written to.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a {found} cannot be written to a {wanted}: convert it first")]
pub struct WrongType {
    /// The value's kind, or the field that the struct does not have.
    pub found: String,
    /// The property's type.
    pub wanted: String,
}

impl WrongType {
    /// What was found cannot be written to that type.
    pub(crate) fn of(found: &str, ty: &PropertyType) -> Self {
        Self { found: found.to_owned(), wanted: ty.to_string() }
    }

    /// Whether so many values fit a container.
    pub(crate) fn check_len(len: usize, ty: &PropertyType) -> Result<(), Self> {
        if u32::try_from(len).is_ok() { Ok(()) } else { Err(Self::of("container with 2³² values", ty)) }
    }
}

/// Whether the value can be written to such a property.
///
/// # Errors
/// [`WrongType`] for the part of it that cannot.
pub fn fits(ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    of_type!(ty, K, of => match K::get(value) {
        Some(content) => K::fits(of, ty, content),
        None => Err(WrongType::of(value.kind_name(), ty)),
    })
}

/// Whether all the values can.
pub(crate) fn fit(ty: &PropertyType, values: &[Value]) -> Result<(), WrongType> {
    values.iter().try_for_each(|value| fits(ty, value))
}
