//! The rules that the attributes check. Each has an id, which its message ends with: `docs/mistakes.md` lists them, and
//! a file of `tests/ui` has a module for each that breaks it, one of `tests/accepted` a module that keeps to it. A new rule takes the
//! next free number; one that is gone leaves its number unused. And what collects the errors of one item, so that an author
//! reads all of them at once.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;
use syn::Error;

/// Rule `id` is broken by `tokens`.
pub(crate) fn spanned(id: &str, tokens: impl ToTokens, message: impl Display) -> Error {
    Error::new_spanned(tokens, format!("{message} [{id}]"))
}

/// Rule `id` is broken at `span`.
pub(crate) fn at(id: &str, span: Span, message: impl Display) -> Error {
    Error::new(span, format!("{message} [{id}]"))
}

/// The errors of an item so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// What came out, or an error more.
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

    /// What was made of the item, if there was no error.
    pub(crate) fn unless<T>(self, made: Option<T>) -> Result<T, Error> {
        self.finish()?;
        made.ok_or_else(|| Error::new(Span::call_site(), "a part of this item is missing"))
    }

    /// All of them, if there are any.
    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.0 {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
