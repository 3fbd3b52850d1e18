//! The signature of a delegate: a function type, and its text as the host prints it.
#![expect(unsafe_code, reason = "declares the trait whose text the host believes")]

use core::marker::PhantomData;

use crate::Value;
use crate::signature::{Params, ReturnValue};
use crate::type_text::{TypeText, is_delegate_path};

/// What a delegate takes and gives: a function type of up to eight values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of a delegate",
    label = "write `fn(A, B) -> R`",
    note = "parameters and result are types that the host knows; there are at most eight parameters"
)]
///
/// # Safety
/// `TEXT` is what the host reads `Args` and `Result` as.
pub unsafe trait Signature: 'static {
    /// Its parameters.
    type Args: Params;
    /// Its result.
    type Result: ReturnValue;
    /// As the host prints it: `f32, String -> bool`.
    #[doc(hidden)]
    const TEXT: &'static TypeText;
}

macro_rules! signatures {
    ($([$($name:ident)*])*) => {$(
        // SAFETY: the text is put together from those of the very types.
        unsafe impl<$($name: Value,)* Z: ReturnValue + 'static> Signature for fn($($name),*) -> Z {
            type Args = ($($name,)*);
            type Result = Z;
            const TEXT: &'static TypeText = &delegate_text(&[$($name::TYPE.as_str()),*], match &Z::VALUE {
                Some(value) => Some(value.text),
                None => None,
            });
        }
    )*};
}
signatures!([] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G] [A B C D E F G H]);

/// What `#[udelegate]` makes of a declaration: a signature that is known by a path.
#[doc(hidden)]
pub trait NamedSignature: 'static {
    /// What it takes and gives: a function type.
    type Function: Signature;
    /// `/Script/<Package>.<Name>`, or `/Script/<Package>.<Class>:<Name>`.
    const PATH: &'static str;
}

/// The signature of a delegate that has a name.
#[doc(hidden)]
#[derive(Debug)]
pub struct Named<S>(PhantomData<fn() -> S>);

// SAFETY: the text is that of the function type, in the parentheses of a name that the host reads past.
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

const fn delegate_text(params: &[&str], result: Option<&str>) -> TypeText {
    let mut text = TypeText::joined(&[]);
    let mut at = 0;
    while at < params.len() {
        let comma = if at == 0 { "" } else { ", " };
        text = TypeText::joined(&[text.as_str(), comma, params[at]]);
        at += 1;
    }
    match result {
        Some(result) if params.is_empty() => TypeText::joined(&["-> ", result]),
        Some(result) => TypeText::joined(&[text.as_str(), " -> ", result]),
        None => text,
    }
}
