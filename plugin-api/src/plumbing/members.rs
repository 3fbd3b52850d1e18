//! Members of a view: properties straight in host memory, functions through their handle.
#![expect(unsafe_code, reason = "reads and writes host memory at offsets that the host filled in")]

use alcedo_abi::describe::Cell;

use super::declared::{FunctionCell, PropertyCell};
use crate::kinds::ValidityToken;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, IntoHost, This, Value, host, zcall};

/// Reads a property. No mode is tested: a read is always allowed.
#[inline]
pub fn read_member<'f, C: Class, T: Value>(this: &This<'f, C>, cell: &PropertyCell<C, T>) -> T::Seen<'f> {
    // SAFETY: the memory of a frame-bound object is live for its frame, and the property lives in it.
    unsafe { T::see(place(this, cell), || ValidityToken::of_object(this.object())) }
}

/// Writes a property.
///
/// # Errors
/// When the host refuses writes at the moment.
#[inline]
pub fn write_member<C: Class, T: Value>(
    this: &This<'_, C>,
    cell: &PropertyCell<C, T>,
    value: impl IntoHost<T>,
) -> Result<(), CallError> {
    host::may_write(this.object(), T::NAMES_OBJECTS)?;
    // SAFETY: the memory of a frame-bound object is live for its frame, and the property lives in it.
    unsafe { value.put(place(this, cell)) }
}

#[inline]
fn place<C: Class, T: Value>(this: &This<'_, C>, cell: &PropertyCell<C, T>) -> *mut T::Raw {
    let offset = cell.offset();
    debug_assert_ne!(offset, Cell::UNFILLED, "a property of {} that no host has placed", C::PATH);
    // SAFETY: who made the cell promised that the host has filled it: with the offset of a property of just this type in
    // every object of just this class.
    unsafe { this.memory().add(offset as usize) }.cast()
}

/// Calls a function of the object through the handle in `cell`.
///
/// # Errors
/// Whatever the callee fails with.
pub fn invoke_member<C: Class, A: Params, R: ReturnValue>(
    this: &This<'_, C>,
    cell: &FunctionCell<C, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    let handle = zcall::handle_in(cell.cell(), what)?;
    // SAFETY: the host has filled the cell with the handle of a function that takes and gives just these, and looks by
    // itself whether the object has it; a frame-bound object is the game thread's.
    unsafe { zcall::by_handle(Some(this.object()), handle, what, args) }
}

/// An object seen as one of its base class.
pub fn base_ref<'a, 'f, C: Class>(this: &'a This<'f, C>) -> &'a This<'f, C::Base> {
    this.base_ref()
}
