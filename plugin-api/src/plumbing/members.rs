//! Members of a view: properties straight in host memory, functions through their handle.

use crate::cells::{FunctionCell, PropertyCell};
use crate::direct::CalledAs;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, IntoHost, This, Value, host, zcall};

/// Reads a property. No mode is tested: a read is always allowed.
#[inline]
pub fn read_member<'f, C: Class, T: Value>(this: &This<'f, C>, cell: &PropertyCell<C, T>) -> T::Seen<'f> {
    T::see(this.property(cell))
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
    value.put(this.property(cell).into_parts().0)
}

/// Calls a function of the object through the handle in `cell`.
///
/// # Errors
/// Whatever the callee fails with.
#[inline]
pub fn invoke_member<T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    zcall::by_cell::<true, _, _, _>(this, cell, what, args)
}

/// Calls a function that needs no object, through the handle in `cell`. The object only says that this is the game thread.
///
/// # Errors
/// Whatever the callee fails with.
#[inline]
pub fn invoke_static_member<T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    zcall::by_cell::<false, _, _, _>(this, cell, what, args)
}

/// An object seen as one of its base class.
pub fn base_ref<'a, 'f, C: Class>(this: &'a This<'f, C>) -> &'a This<'f, C::Base> {
    this.base_ref()
}
