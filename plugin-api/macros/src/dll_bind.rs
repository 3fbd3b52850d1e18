//! Expands `dll_bind = "Name"` on a class: the name of the C library, and a check that no class extends such a class.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitStr, Result};

use crate::attr_args::{AttrArg, AttrArgs};
use crate::rules;

/// Returns the name in `dll_bind = "Name"`, if the attribute has this specifier.
pub(crate) fn library(attr_args: &AttrArgs) -> Result<Option<LitStr>> {
    let Some(AttrArg { name, value, .. }) = attr_args.get("dll_bind") else { return Ok(None) };
    let Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = value else {
        return Err(rules::at("ALC0140", name.span(), "`dll_bind` takes the name of a library: `dll_bind = \"Name\"`"));
    };
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
    rules::refuse(
        "ALC0140",
        (text.value().is_empty() || !text.value().chars().all(is_plain)).then_some(text),
        "a library is named without path and extension, in letters, digits, `_` and `-`: `libGame.so` is \"Game\"",
    )?;
    rules::refuse(
        "ALC0141",
        attr_args.get("blueprintable").map(|attr_arg| &attr_arg.name),
        "a class that is bound to a library is final: scripts cannot extend it",
    )?;
    Ok(Some(text.clone()))
}

/// Expands to a check that rejects a base class that is bound to a C library.
pub(crate) fn base_is_not_bound(base: &TokenStream) -> TokenStream {
    let span = base.span();
    let is_unbound = quote_spanned! {span=> <#base as ::alcedo_plugin_api::__private::Class>::LIBRARY.is_empty() };
    let problem = "this class is bound to a library, so it is final: hold an object of it instead of extending it";
    rules::asserted("ALC0142", span, &is_unbound, problem)
}
