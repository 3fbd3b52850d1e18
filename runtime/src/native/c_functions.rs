//! Functions of native classes whose bodies are in a C library. `#[dll_import]` expands to the same code in hosts and plugins. Building the
//! runtime opens the library.

use std::marker::PhantomData;

use alcedo_abi::describe::Metadata;

use crate::boundary::CallError;
use crate::kinds::{CallingConvention, PropertyKind};
use crate::native::functions::{Function, FunctionCell, SignatureBlock, without_body};
use crate::native::this::{At, Class, View};
use crate::object::member::FunctionRef;
use crate::object::native_out::OutValues;
use crate::object::native_value::{NativeParams, NativeResult, NativeValue};
use crate::object::natives::core_of;

/// Zero-sized marker with the class of a function, and the types of its parameters, result and out parameters.
pub struct ImportCell<C, A, R, O>(FunctionCell<C, A, R>, PhantomData<fn() -> O>);

impl<C, A, R, O> ImportCell<C, A, R, O> {
    /// Returns the marker.
    #[expect(clippy::new_without_default, reason = "`Default::default` is not const, and statics call `new`")]
    pub const fn new() -> Self {
        Self(FunctionCell::new(), PhantomData)
    }
}

/// Describes a function of the C library to which the class `C` is bound.
pub const fn dll_import<C: Class, A: NativeParams, R: NativeResult, O: OutValues>(
    name: &'static str,
    convention: CallingConvention,
    block: &SignatureBlock<A, R>,
    _cell: &ImportCell<C, A, R, O>,
    metadata: Metadata,
) -> Function<C> {
    without_body::<C, A, R>(name, convention.flags(), block, metadata)
}

/// Calls a C function and returns its result and the values of its out parameters.
///
/// # Errors
/// Fails if the callee fails.
pub fn invoke_import<'f, C: Class, A: NativeParams, R: NativeResult, O: OutValues>(
    view: &impl View<'f>,
    function: &FunctionRef,
    _cell: &ImportCell<C, A, R, O>,
    args: A,
) -> Result<(R, O), CallError> {
    let At { world, object } = view.at();
    core_of(world).call_typed_with_out_parameters(object, function, None, args)
}

/// Returns `true` if parameters of type `T` can be passed to C. Rejects parameters with a length, because native classes cannot declare
/// arrays by Rust types.
#[must_use]
pub const fn c_accepts<T: NativeValue>(has_len: bool) -> bool {
    !has_len && T::KIND.fits_c()
}

/// Returns `true` if C results can be read as type `T`.
#[must_use]
pub const fn c_returns<T: NativeValue>() -> bool {
    T::KIND.fits_c() || T::KIND.0 == PropertyKind::BOOL.0
}
