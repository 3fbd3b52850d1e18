//! What a reflected function gives, read off its signature: nothing, a value, or a `Result` of these, whose error crosses
//! to the caller in its own words.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, ReturnType, Type};

/// What a function gives.
pub(crate) struct ResultOf {
    /// The type as it is written, if there is one.
    pub(crate) returned: Option<Type>,
    /// The value that crosses, if there is one.
    value: Option<Type>,
    /// The type of the error, where it is written.
    error: Option<Type>,
    /// Whether it may be an error.
    pub(crate) may_fail: bool,
}

impl ResultOf {
    /// Reads what stands behind the arrow. An alias with one parameter, such as `anyhow::Result<T>`, is a `Result` as well.
    pub(crate) fn of(output: &ReturnType) -> Self {
        let returned = match output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some((**ty).clone()).filter(|ty| !is_nothing(ty)),
        };
        match returned.as_ref().and_then(arguments_of_result) {
            Some((value, error)) => {
                let value = Some(value).filter(|ty| !is_nothing(ty));
                Self { returned, value, error, may_fail: true }
            }
            None => Self { value: returned.clone(), returned, error: None, may_fail: false },
        }
    }

    /// The value as a type, `()` for none.
    pub(crate) fn value_type(&self) -> TokenStream {
        or_nothing(self.value.as_ref())
    }

    /// Whether there is a value beside the error.
    pub(crate) fn gives_a_value(&self) -> bool {
        self.value.is_some()
    }

    /// The type as it is written, `()` for none.
    pub(crate) fn returned_type(&self) -> TokenStream {
        or_nothing(self.returned.as_ref())
    }

    /// Has the compiler say at the error's own type that it cannot cross.
    pub(crate) fn check(&self) -> Option<TokenStream> {
        let error = self.error.as_ref()?;
        Some(quote_spanned! {error.span()=>
            const _: () = ::alcedo_plugin_api::plumbing::error_in_words::<#error>();
        })
    }
}

fn or_nothing(ty: Option<&Type>) -> TokenStream {
    ty.map_or_else(|| quote! { () }, |ty| quote! { #ty })
}

fn is_nothing(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

/// The `T` and, where it is written, the `E` of `Result<T, E>`.
fn arguments_of_result(ty: &Type) -> Option<(Type, Option<Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    Some((types.next()?, types.next()))
}

/// Where `name` stands, as a constant of the plumbing.
pub(crate) fn place_of(name: &Ident) -> TokenStream {
    quote_spanned! {name.span()=>
        ::alcedo_plugin_api::plumbing::Place {
            file: ::core::file!(),
            line: ::core::line!(),
            column: ::core::column!(),
        }
    }
}
