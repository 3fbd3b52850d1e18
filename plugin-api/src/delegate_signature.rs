//! Signatures of delegates. A signature is a function type, which also has a string form in the syntax of the host.
#![expect(unsafe_code, reason = "declares the trait whose type text the host trusts")]

use core::marker::PhantomData;

use alcedo_abi::type_text::{TypeText, is_delegate_path};

use crate::Value;
use crate::signature::{Params, ReturnValue, for_each_count, words};

/// Function type that can be the signature of a delegate, with up to eight parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signature of a delegate",
    label = "write `fn(A, B) -> R`",
    note = "parameters and result are types that the host knows; there are at most eight parameters"
)]
///
/// # Safety
/// The host parses `TEXT` into exactly the types in `Args` and `Result`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::Signature;
///
/// /// Calls a delegate that has no parameters.
/// fn ring<F: Signature<Args = ()>>(bell: &Borrowed<'_, Delegate<F>>) -> Result<F::Result, CallError> {
///     bell.call(())
/// }
///
/// fn show(loudness: &Borrowed<'_, Delegate<fn() -> f64>>) -> f64 {
///     ring(loudness).unwrap_or(0.0)
/// }
/// ```
pub unsafe trait Signature: 'static {
    /// Types of the parameters.
    type Args: Params;
    /// Type of the result.
    type Result: ReturnValue;
    /// Signature as a string, in the syntax of the host: `f32, String -> bool`.
    #[doc(hidden)]
    const TEXT: &'static TypeText;
}

macro_rules! signatures {
    ($count:literal: $($at:literal $name:ident $value:ident $staged:ident $back:ident)*) => {
        // SAFETY: `TEXT` consists of the strings of these types.
        unsafe impl<$($name: Value,)* Z: ReturnValue + 'static> Signature for fn($($name),*) -> Z {
            type Args = ($($name,)*);
            type Result = Z;
            const TEXT: &'static TypeText = &words(<Self::Args as Params>::TYPES, &Z::VALUE, false);
        }
    };
}
for_each_count!(signatures);

/// Signature of a delegate that has a path, declared by `#[udelegate]`.
#[doc(hidden)]
pub trait NamedSignature: 'static {
    /// Signature as a function type.
    type Function: Signature;
    /// Path of the delegate: `/Script/<Package>.<Name>`, or `/Script/<Package>.<Class>:<Name>`.
    const PATH: &'static str;
}

/// Signature type of a delegate declared by `#[udelegate]`; `S` is the marker type that the attribute declares.
#[doc(hidden)]
#[derive(Debug)]
pub struct Named<S>(PhantomData<fn() -> S>);

// SAFETY: `TEXT` contains a path, which the host does not parse as a type, followed by the string of the function type in parentheses.
unsafe impl<S: NamedSignature> Signature for Named<S> {
    type Args = <S::Function as Signature>::Args;
    type Result = <S::Function as Signature>::Result;
    const TEXT: &'static TypeText = &named_text(S::PATH, <S::Function as Signature>::TEXT);
}

const fn named_text(path: &str, signature: &TypeText) -> TypeText {
    assert!(
        is_delegate_path(path),
        "the path of a delegate is written `/Script/<Package>.<Name>` or `/Script/<Package>.<Class>:<Name>`"
    );
    TypeText::joined(&[path, "(", signature.as_str(), ")"])
}
