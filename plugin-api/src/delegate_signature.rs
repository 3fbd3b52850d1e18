//! The signature of a delegate: a function type, and its text as the host prints it.
#![expect(unsafe_code, reason = "declares the trait whose text the host believes")]

use crate::Value;
use crate::signature::{Params, ReturnValue};
use crate::type_text::TypeText;

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
