//! Result of a reflected function, parsed from the function's signature: `()`, a value, or a `Result` of `()` or a value. The caller
//! receives the error of a `Result` as a string.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ReturnType, Type};

use crate::type_names::{type_arguments, ungrouped};

pub(crate) struct ResultOf {
    /// Return type in the author's spelling, if any.
    pub(crate) returned: Option<Type>,
    value: Option<Type>,
    /// Type of the error, if the signature specifies one.
    error: Option<Type>,
    /// True if the function returns a `Result`.
    pub(crate) may_fail: bool,
}

impl ResultOf {
    /// Parses the return type. An alias with one parameter, such as `anyhow::Result<T>`, is also a `Result`.
    pub(crate) fn of(output: &ReturnType) -> Self {
        let returned = match output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ungrouped(ty).clone()).filter(|ty| !is_unit(ty)),
        };
        match returned.as_ref().and_then(arguments_of_result) {
            Some((value, error)) => {
                let value = Some(value).filter(|ty| !is_unit(ty));
                Self { returned, value, error, may_fail: true }
            }
            None => Self { value: returned.clone(), returned, error: None, may_fail: false },
        }
    }

    /// Expands to the type of the value, or `()` without a value.
    pub(crate) fn value_type(&self) -> OrUnit<'_> {
        OrUnit(self.value.as_ref())
    }

    pub(crate) fn has_value(&self) -> bool {
        self.value.is_some()
    }

    /// Expands to the return type in the author's spelling, or `()` without a return type.
    pub(crate) fn returned_type(&self) -> OrUnit<'_> {
        OrUnit(self.returned.as_ref())
    }

    /// Returns the span of the return type.
    pub(crate) fn span(&self) -> Span {
        self.returned.as_ref().map_or_else(Span::call_site, Spanned::span)
    }

    /// Expands to a check that reports an unsupported error type, at the location of the type.
    pub(crate) fn check(&self) -> Option<TokenStream> {
        let error = self.error.as_ref()?;
        Some(quote_spanned! {error.span()=>
            const _: () = ::alcedo_plugin_api::__private::error_in_words::<#error>();
        })
    }
}

/// Expands to a type, or to `()` for `None`. Writes its tokens directly, because each nested token stream costs calls of the compiler.
#[derive(Clone, Copy)]
pub(crate) struct OrUnit<'a>(Option<&'a Type>);

impl ToTokens for OrUnit<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self.0 {
            Some(ty) => ty.to_tokens(tokens),
            None => tokens.append(Group::new(Delimiter::Parenthesis, TokenStream::new())),
        }
    }
}

pub(crate) fn is_unit(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// Returns the `T` of `Result<T, E>`, and also the `E` if the author has written one.
fn arguments_of_result(ty: &Type) -> Option<(Type, Option<Type>)> {
    let mut types = type_arguments(ty, "Result")?.cloned();
    Some((types.next()?, types.next()))
}

/// Expands to a constant with the source location of `name`.
pub(crate) fn location_of(name: &Ident) -> TokenStream {
    quote_spanned! {name.span()=>
        ::alcedo_plugin_api::__private::SourceLocation {
            file: ::core::file!(),
            line: ::core::line!(),
            column: ::core::column!(),
        }
    }
}
