//! Between raw memory and [`Value`]s: a value is read out whole, and written only when all of it fits.
#![expect(unsafe_code, reason = "makes pointers of addresses that callers vouch for")]

use alcedo_abi::value::ArrayRaw;

use crate::containers::{array_clear, array_splice, rows};
use crate::property::PropertyType;
use crate::value::Value;
use crate::values::list::of_type;
use crate::values::ptr::{Ptr, PtrMut};
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

/// The value at `at`.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn read(at: *const u8, ty: &PropertyType) -> Value {
    // SAFETY: the caller promises the value.
    unsafe { Ptr::new(at, ty) }.read()
}

/// Overwrites the value at `at`; see [`PtrMut::write`].
///
/// # Errors
/// [`WrongType`] when the value is of another kind, or a struct has no such field.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub unsafe fn write(at: *mut u8, ty: &PropertyType, value: &Value) -> Result<(), WrongType> {
    // SAFETY: the caller promises the value.
    unsafe { PtrMut::new(at, ty) }.write(value)
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

/// So many new values in place of those there are.
///
/// # Safety
/// `at` is an aligned array of `element`s in host memory that nobody else reads or writes meanwhile.
pub(super) unsafe fn make_room(
    at: *mut ArrayRaw,
    element: &PropertyType,
    count: usize,
) -> impl Iterator<Item = *mut u8> + use<> {
    let count = u32::try_from(count).expect("whoever fills a container has looked how many there are");
    // SAFETY: promised by the caller.
    unsafe { array_clear(at, element) };
    // SAFETY: promised by the caller.
    let room = unsafe { array_splice(at, element, 0, 0, count) };
    room.expect("there is memory for a second copy of what is in memory");
    // SAFETY: promised by the caller.
    rows(&unsafe { at.read() }, element.size())
}
