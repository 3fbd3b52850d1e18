//! Rules that the attributes check. Each message ends with the id of its rule, and `docs/mistakes.md` lists the ids. For each rule, a
//! module in a file of `tests/ui` violates the rule, and a module in a file of `tests/accepted` complies with it. A new rule receives the
//! next free number; the number of a removed rule is not used again. This file also collects all errors of one item in a single report.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Error, Generics};

/// Creates an error that reports a violation of rule `id` at `tokens`.
pub(crate) fn spanned(id: &str, tokens: impl ToTokens, message: impl Display) -> Error {
    Error::new_spanned(tokens, format!("{message} [{id}]"))
}

/// Creates an error that reports a violation of rule `id` at `span`.
pub(crate) fn at(id: &str, span: Span, message: impl Display) -> Error {
    Error::new(span, format!("{message} [{id}]"))
}

/// Reports a violation of rule `id` at tokens, unless the tokens are `None`.
pub(crate) fn refuse(id: &str, tokens: Option<impl ToTokens>, message: impl Display) -> Result<(), Error> {
    tokens.map_or(Ok(()), |tokens| Err(spanned(id, tokens, message)))
}

/// Reports a violation of rule `id` at a span, unless the span is `None`.
pub(crate) fn refuse_at(id: &str, span: Option<Span>, message: impl Display) -> Result<(), Error> {
    span.map_or(Ok(()), |span| Err(at(id, span, message)))
}

/// Reports a violation of rule `id` if an item has generic parameters.
pub(crate) fn refuse_generics(id: &str, generics: &Generics, message: impl Display) -> Result<(), Error> {
    refuse(id, (!generics.params.is_empty()).then_some(generics), message)
}

/// Expands to a check at compile time. If `condition` does not hold, the compiler reports `message` at `span`.
pub(crate) fn asserted(id: &str, span: Span, condition: &TokenStream, message: impl Display) -> TokenStream {
    let message = format!("{message} [{id}]");
    quote_spanned! {span=> const _: () = ::core::assert!(#condition, "{}", #message); }
}

#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Returns the value of an `Ok`. For an `Err`, records the error and returns `None`.
    pub(crate) fn take<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                match &mut self.0 {
                    Some(first) => first.combine(error),
                    None => self.0 = Some(error),
                }
                None
            }
        }
    }

    /// Returns the expansion of the item, unless errors were recorded.
    pub(crate) fn unless<T>(self, made: Option<T>) -> Result<T, Error> {
        self.finish()?;
        made.ok_or_else(|| Error::new(Span::call_site(), "a part of this item is missing"))
    }

    /// Returns all recorded errors, if any, as one error.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Err)
    }
}
