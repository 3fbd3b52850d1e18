//! Expands attributes on a host's own classes. The expansion equals that for plugins, except that paths begin with
//! `::alcedo_runtime::native` or `::alcedo::native` instead of `::alcedo_plugin_api`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, Result, Signature};

use crate::method::{Method, SelfKind};
use crate::rules;
use crate::type_names::replaced;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Plugin,
    Host,
}

/// Name of the runtime's crate.
pub(crate) const RUNTIME: &str = "alcedo_runtime";
/// Name of the crate on which hosts depend, and which re-exports the runtime. In a host that depends only on this crate, the path
/// `::alcedo_runtime` does not exist.
pub(crate) const FACADE: &str = "alcedo";

/// Replaces paths of `alcedo_plugin_api` by paths of `krate`, for a host.
pub(crate) fn of_the_host(tokens: TokenStream, krate: &str) -> TokenStream {
    replaced(tokens, "alcedo_plugin_api", &|ident| {
        let (krate, native) = (Ident::new(krate, ident.span()), Ident::new("native", ident.span()));
        quote! { #krate::#native }
    })
}

/// Returns the error for an attribute that is only valid in hosts.
pub(crate) fn refused(attr: &Attribute, name: &str) -> syn::Error {
    let instead = match name {
        "begin_destroy" => "implement `Drop` for a plugin part; it runs on the finalizer thread",
        _ => "hold other objects in `Obj<Class>` properties, which the collection follows",
    };
    rules::spanned("ALC0107", attr, format!("`#[{name}]` is for native classes of a host: {instead}"))
}

/// Expands to the function that reports the references in an object to the collection. `signature` is that of the author's method.
pub(crate) fn references(class: &Ident, signature: &Signature) -> Result<TokenStream> {
    const EXPECTED: &str =
        "the collection calls `fn references(&self, this: This<Self>, visit: &mut dyn FnMut(ObjectHandle))`";
    let mut without_visit = signature.clone();
    let Some(visit) = without_visit.inputs.pop() else {
        return Err(rules::spanned("ALC0110", signature, EXPECTED));
    };
    let is_reference =
        matches!(visit.value(), syn::FnArg::Typed(typed) if matches!(&*typed.ty, syn::Type::Reference(_)));
    rules::refuse("ALC0110", (!is_reference).then_some(&visit), EXPECTED)?;
    let method = Method::of(&without_visit)?;
    rules::refuse("ALC0110", (method.self_kind != SelfKind::Shared).then_some(&signature.inputs), EXPECTED)?;
    method.expect_no_parameters_or_result("`add_references`")?;
    let (name, this) = (&method.name, method.has_this.then(|| quote! { this, }));
    Ok(quote! { |part: &#class, this, visit| #class::#name(part, #this visit) })
}
