//! Describes functions of a C library, and converts the values of their out parameters for the caller.

use alcedo_abi::describe::Metadata;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{CallingConvention, PropertyKind, property_flags};

use super::declared::{Function, without_body};
use super::describe::SignatureBlock;
use crate::cells::ImportCell;
use crate::direct::CalledAs;
use crate::out::OutParameters;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, Value, zcall};

/// Describes a function of the C library to which class `C` is bound.
#[must_use]
pub const fn dll_import<C: Class, A: Params, R: ReturnValue, O: OutParameters>(
    name: &'static str,
    convention: CallingConvention,
    block: &'static SignatureBlock<A, R>,
    cell: &'static ImportCell<C, A::Values, R, O>,
    metadata: Metadata,
) -> Function<C> {
    // The host fills one slot per out parameter, so the types `O` of `cell` must equal the types of the out parameters.
    let (params, mut at, mut out_parameters) = (block.descriptions(), 0, Fingerprint::START);
    while at < A::COUNT {
        if params[at].flags & property_flags::OUT != 0 {
            out_parameters = out_parameters.value(A::TYPES[at].kind, A::TYPES[at].path);
        }
        at += 1;
    }
    assert!(out_parameters.finish() == O::FINGERPRINT.finish(), "the out parameters of C are those of the cell");
    without_body::<C, A, R>((name, convention.flags()), block, &cell.0, metadata)
}

/// Calls a function of a C library. Returns the result and the out parameters.
pub fn invoke_import<T, A: Params, R: ReturnValue, O: OutParameters>(
    this: &impl CalledAs<T>,
    cell: &ImportCell<T, A::Values, R, O>,
    what: &str,
    args: &A,
) -> Result<(R, O), CallError> {
    zcall::import_by_cell(this, cell, what, args)
}

/// Type of a caller's variable for an out parameter of a C function. The host returns the value of the parameter as a `T`.
pub trait GiveBack<T>: Sized {
    /// Type of the value that is assigned to the caller's variable.
    type Ready;

    /// Converts the host value into the caller's type.
    ///
    /// # Errors
    /// Fails if the number of values differs from the length of the caller's array.
    fn ready(borrowed: &Self, argument: T) -> Result<Self::Ready, CallError>;
}

impl<T> GiveBack<T> for T {
    type Ready = T;

    fn ready(_borrowed: &T, argument: T) -> Result<T, CallError> {
        Ok(argument)
    }
}

impl<T, const N: usize> GiveBack<Vec<T>> for [T; N] {
    type Ready = Self;

    fn ready(_borrowed: &Self, argument: Vec<T>) -> Result<Self, CallError> {
        let len = argument.len();
        argument.try_into().map_err(|_| CallError::other(format!("C returned {len} values instead of {N}")))
    }
}

/// Returns true if a C function can have a parameter of type `T`. With a declared length, `T` must be an array.
#[must_use]
pub const fn c_accepts<T: Value>(has_len: bool) -> bool {
    if has_len { T::KIND.0 == PropertyKind::ARRAY.0 } else { T::KIND.fits_c() }
}

/// Returns true if a C function can return a `T`.
#[must_use]
pub const fn c_returns<T: Value>() -> bool {
    T::KIND.fits_c() || T::KIND.0 == PropertyKind::BOOL.0
}
