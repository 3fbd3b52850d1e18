//! Functions of a C library: the types that C can read, their descriptions, and the conversion of out parameters for the caller.

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

use super::declared::{Function, Metadata, import_of_c};
use super::describe::SignatureBlock;
use crate::cells::ImportCell;
use crate::direct::CalledAs;
use crate::out::Outs;
use crate::signature::{Params, ReturnValue};
use crate::{CallError, Class, Value, zcall};

/// Calling convention of a function of C.
#[derive(Clone, Copy, Debug)]
pub struct CallingConvention {
    /// True if the function needs no working directory.
    pub no_cwd: bool,
    /// True if a `bool` result fills one byte.
    pub bool8: bool,
    /// True if a `bool` result fills four bytes.
    pub bool32: bool,
}

/// Describes a function of the C library that class `C` is bound to.
#[must_use]
pub const fn dll_import<C: Class, A: Params, R: ReturnValue, O: Outs>(
    name: &'static str,
    manner: CallingConvention,
    block: &'static SignatureBlock<A, R>,
    cell: &'static ImportCell<C, A::Values, R, O>,
    about: Metadata,
) -> Function<C> {
    // The host fills as many slots, of exactly these types.
    let (params, mut at, mut outs) = (block.descriptions(), 0, Fingerprint::START);
    while at < A::COUNT {
        if params[at].flags & property_flags::OUT != 0 {
            outs = outs.value(A::TYPES[at].kind, A::TYPES[at].path);
        }
        at += 1;
    }
    assert!(outs.finish() == O::FINGERPRINT.finish(), "the out parameters of C are those of the cell");
    let no_cwd = if manner.no_cwd { function_flags::NO_CWD } else { 0 };
    let bool8 = if manner.bool8 { function_flags::BOOL8 } else { 0 };
    let bool32 = if manner.bool32 { function_flags::BOOL32 } else { 0 };
    import_of_c::<C, A, R>((name, function_flags::DLL_IMPORT | no_cwd | bool8 | bool32), block, &cell.0, about)
}

/// Calls a function of a C library; returns the result and the out parameters.
pub fn invoke_import<T, A: Params, R: ReturnValue, O: Outs>(
    this: &impl CalledAs<T>,
    cell: &ImportCell<T, A::Values, R, O>,
    what: &str,
    args: &A,
) -> Result<(R, O), CallError> {
    zcall::import_by_cell(this, cell, what, args)
}

/// A caller's argument for an out parameter of C, which is assigned from a host value `T`.
pub trait GiveBack<T>: Sized {
    /// Type of the assigned value.
    type Ready;

    /// Converts the host value into the caller's type.
    ///
    /// # Errors
    /// The length differs from the caller's array.
    fn ready(lent: &Self, given: T) -> Result<Self::Ready, CallError>;
}

impl<T> GiveBack<T> for T {
    type Ready = T;

    fn ready(_lent: &T, given: T) -> Result<T, CallError> {
        Ok(given)
    }
}

impl<T, const N: usize> GiveBack<Vec<T>> for [T; N] {
    type Ready = Self;

    fn ready(_lent: &Self, given: Vec<T>) -> Result<Self, CallError> {
        let len = given.len();
        given.try_into().map_err(|_| CallError::other(format!("C returned {len} values instead of {N}")))
    }
}

/// Returns true if C can take a value of the type; an array has a declared length.
#[must_use]
pub const fn c_takes<T: Value>(has_len: bool) -> bool {
    if has_len { T::KIND.0 == PropertyKind::ARRAY.0 } else { is_number::<T>() || is_text_or_struct::<T>() }
}

/// Returns true if C can return a value of the type.
#[must_use]
pub const fn c_gives<T: Value>() -> bool {
    is_number::<T>() || is_text_or_struct::<T>() || T::KIND.0 == PropertyKind::BOOL.0
}

const fn is_number<T: Value>() -> bool {
    T::KIND.0 >= PropertyKind::U8.0 && T::KIND.0 <= PropertyKind::F64.0
}

const fn is_text_or_struct<T: Value>() -> bool {
    T::KIND.0 == PropertyKind::STRING.0 || T::KIND.0 == PropertyKind::STRUCT.0
}
