//! Accesses properties in host memory, and calls functions through their handles.

use core::fmt::{self, Formatter};

use crate::cells::FunctionCell;
use crate::direct::CalledAs;
use crate::kinds::put_in_owner;
use crate::property::PropertyCell;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, IntoHost, This, Value, host, zcall};

/// Reads a property. Reads are allowed in every mode of the host.
#[inline]
pub fn read_member<'f, C: Class, T: Value>(this: &This<'f, C>, cell: &PropertyCell<C, T>) -> T::Seen<'f> {
    T::see(this.property(cell))
}

/// Writes a property.
///
/// # Errors
/// Fails if the host currently refuses writes to the object, or if the value would change the length of a fixed array.
#[inline]
pub fn write_member<C: Class, T: Value>(
    this: &This<'_, C>,
    cell: &PropertyCell<C, T>,
    value: impl IntoHost<T>,
) -> Result<(), CallError> {
    host::may_write(this.object, T::NAMES_OBJECTS)?;
    let (target, _) = this.property(cell).into_parts();
    put_in_owner(&value, target, this.object)
}

/// Formats a view as its name and its object.
///
/// # Errors
/// Returns errors of the formatter.
pub fn debug_view<C: Class>(name: &str, this: &This<'_, C>, f: &mut Formatter<'_>) -> fmt::Result {
    f.debug_tuple(name).field(this).finish()
}

/// Calls a function of the object through the handle in `cell`.
#[inline]
pub fn invoke_member<T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    zcall::by_cell::<true, _, _, _>(this, cell, what, args)
}

/// Calls a static function through the handle in `cell`. `this` serves only as proof that the caller runs on the game thread.
#[inline]
pub fn invoke_static_member<T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    zcall::by_cell::<false, _, _, _>(this, cell, what, args)
}

/// Returns the value, or ends the running call with the error. All callers share this function to keep compile times short, because the
/// compiler would check a closure in each caller separately.
#[inline]
pub fn or_end<T>(result: Result<T, CallError>) -> T {
    result.unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Casts the object to its base class.
pub fn base_ref<'a, 'f, C: Class>(this: &'a This<'f, C>) -> &'a This<'f, C::Base> {
    this.base_ref()
}
