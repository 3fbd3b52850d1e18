//! Constants for the fields of structs in host memory. The type of a constant specifies the struct and the field's type. The value of the
//! constant is the offset of the field, which the compiler computes from the layout of the struct.

use core::marker::PhantomData;

use alcedo_rt::CallError;

use super::into_host::{IntoHost, put_in_owner};
use super::ptr::Field;
use super::{Borrowed, Kind};
use crate::Value;
use crate::signature::ValueType;

impl<S: Value, T: Value> Field<S, T> {
    /// Describes the field for the host. `is_base` is `true` if the field is the base struct that this struct extends.
    #[must_use]
    pub const fn described(
        &self,
        name: &'static str,
        default: &'static str,
        doc: &'static str,
        is_base: bool,
    ) -> FieldType<S> {
        FieldType { default, doc, is_base, ..FieldType::new(name, ValueType::of::<T>(), self.offset()) }
    }

    /// Returns `true` if values of the field can own memory.
    #[must_use]
    pub const fn owns_memory(&self) -> bool {
        T::OWNS_MEMORY
    }
}

/// Description of a field of the struct `S`: name, type and offset.
pub struct FieldType<S> {
    pub(crate) name: &'static str,
    pub(crate) ty: ValueType,
    pub(crate) offset: usize,
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) is_base: bool,
    of: PhantomData<fn(S)>,
}

impl<S> FieldType<S> {
    pub(crate) const fn new(name: &'static str, ty: ValueType, offset: usize) -> Self {
        Self { name, ty, offset, default: "", doc: "", is_base: false, of: PhantomData }
    }
}

/// Returns the value of a field. A plain value is copied; a value of any other type is returned as a view. If an error occurs, the running
/// call fails.
#[inline]
pub fn field<'f, K: Kind, T: Value>(of: &Borrowed<'f, K>, field: &Field<K, T>) -> T::Seen<'f> {
    of.field(field).unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Overwrites a field with `value`, in place.
///
/// # Errors
/// Fails with `EXPIRED` if the struct no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner. Also fails if
/// the value would change the length of a fixed array.
#[inline]
pub fn set_field<K: Kind, T: Value>(
    of: &Borrowed<'_, K>,
    field: &Field<K, T>,
    value: impl IntoHost<T>,
) -> Result<(), CallError> {
    put_in_owner(&value, of.ptr_mut()?.into_field(field), of.token().owner())
}
