//! Fields of structs that are used where they lie.
#![expect(unsafe_code, reason = "follows addresses of fields in host memory")]

use alcedo_rt::CallError;

use super::give::Give;
use super::{Kind, Lent};
use crate::Value;

/// Sees a field.
///
/// # Safety
/// Values of `K` have a field of type `T` at `offset`.
#[inline]
pub unsafe fn field<'f, K: Kind, T: Value>(of: &Lent<'f, K>, offset: usize) -> T::Seen<'f> {
    // SAFETY: promised by the caller.
    unsafe { field_of::<K, T>(of, offset) }.unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Sees a field, or says why not.
///
/// # Safety
/// As [`field`].
#[inline]
pub unsafe fn field_of<'f, K: Kind, T: Value>(of: &Lent<'f, K>, offset: usize) -> Result<T::Seen<'f>, CallError> {
    // SAFETY: the struct was looked at just now, and has a field there, by contract.
    let at = unsafe { of.raw()?.byte_add(offset) };
    // SAFETY: a live field of a live struct, as long as the struct's own spot is good.
    Ok(unsafe { T::see(at.cast_mut().cast(), || of.spot()) })
}

/// Overwrites a field.
///
/// # Safety
/// As [`field`].
///
/// # Errors
/// `EXPIRED`; `DURING_REBUILD`.
#[inline]
pub unsafe fn set_field<K: Kind, T: Value>(
    of: &Lent<'_, K>,
    offset: usize,
    value: impl Give<T>,
) -> Result<(), CallError> {
    // SAFETY: the struct was looked at just now, and has a field there, by contract.
    let at = unsafe { of.raw_mut()?.byte_add(offset) };
    // SAFETY: a live field of a live struct, whose owner may be written.
    unsafe { value.put(at.cast()) }
}
