//! Members of a face: properties straight in host memory, functions through their handle.
#![expect(unsafe_code, reason = "reads and writes host memory at offsets that the host filled in")]

use alcedo_abi::describe::Cell;

use crate::kinds::Spot;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, Give, This, Value, host, zcall};

/// Reads a property. No mode is tested: a read is always allowed.
///
/// # Safety
/// `cell` is that of a property of type `T` of class `C`, which the host has filled and compared.
#[inline]
pub unsafe fn read_member<'f, C: Class, T: Value>(this: &This<'f, C>, cell: &Cell) -> T::Seen<'f> {
    // SAFETY: promised by the caller.
    let place = unsafe { place::<C, T>(this, cell) };
    // SAFETY: the memory of a frame-bound object is live for its frame, and the property lives in it.
    unsafe { T::see(place, || Spot::of_object(this.object())) }
}

/// Writes a property.
///
/// # Safety
/// As [`read_member`].
///
/// # Errors
/// When the host refuses writes at the moment.
#[inline]
pub unsafe fn write_member<C: Class, T: Value>(
    this: &This<'_, C>,
    cell: &Cell,
    value: impl Give<T>,
) -> Result<(), CallError> {
    host::may_write(this.object(), T::NAMES_OBJECTS)?;
    // SAFETY: promised by the caller.
    let place = unsafe { place::<C, T>(this, cell) };
    // SAFETY: the memory of a frame-bound object is live for its frame, and the property lives in it.
    unsafe { value.put(place) }
}

/// # Safety
/// As [`read_member`].
unsafe fn place<C: Class, T: Value>(this: &This<'_, C>, cell: &Cell) -> *mut T::Raw {
    let offset = cell.get();
    debug_assert_ne!(offset, Cell::UNFILLED, "a property of {} that no host has placed", C::PATH);
    // SAFETY: the host filled the cell with the property's offset in every object of the class.
    unsafe { this.memory().add(offset as usize) }.cast()
}

/// Calls a function of the object through the handle in `cell`.
///
/// # Safety
/// `cell` is that of a function that takes `A` and gives `R`, which the host has filled and compared.
///
/// # Errors
/// Whatever the callee fails with.
pub unsafe fn invoke_member<C: Class, A: Params, R: ReturnValue>(
    this: &This<'_, C>,
    cell: &Cell,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    let handle = zcall::handle_in(cell, what)?;
    // SAFETY: promised by the caller.
    unsafe { zcall::by_handle(Some(this.object()), handle, what, args) }
}

/// An object seen as one of its base class.
pub fn base_ref<'a, 'f, C: Class>(this: &'a This<'f, C>) -> &'a This<'f, C::Base> {
    this.base_ref()
}
