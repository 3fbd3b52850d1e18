//! Static functions offered by name: `#[zcall(ex = "…")]` on a free function, `#[zmethod]` in a class.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, Result};

use crate::conditions::Conditions;
use crate::method::{Method, Parameter, SelfKind};
use crate::words::Words;

/// `#[zcall]` on a free function.
pub(crate) fn expand(words: &Words, item: &ItemFn) -> Result<TokenStream> {
    words.expect(&["ex"])?;
    let Some(name) = words.text("ex")? else {
        return Err(syn::Error::new(words.span(), "say by which name it is called: `#[zcall(ex = \"math.add\")]`"));
    };
    if name.value().is_empty() || name.value().contains(['/', ':', ' ']) {
        return Err(syn::Error::new(
            name.span(),
            "the name is what follows `ex:/`: not empty, without `/`, `:` or spaces",
        ));
    }
    let method = Method::of(&item.sig)?;
    if method.self_kind != SelfKind::None || method.wants_this {
        return Err(syn::Error::new_spanned(
            &item.sig.inputs,
            "a function called by name has neither `self` nor `this`",
        ));
    }
    let function = &method.name;
    let export = export(&method, &name.value(), &quote! { "" }, &quote! { #function });
    let export = Conditions::of(&item.attrs)?.on_items(export)?;
    Ok(quote! { #item #export })
}

/// The description and shell of a static function.
pub(crate) fn export(method: &Method, name: &str, type_path: &TokenStream, target: &TokenStream) -> TokenStream {
    let (words, result) = (method.words(), method.result_type());
    let parameters = method.parameters.iter().map(|Parameter { ident, ty, .. }| quote! { #ident: #ty });
    quote! {
        ::alcedo_plugin_api::plumbing::export! {
            type_path: #type_path, name: #name, signature: #words,
            (#(#parameters),*) -> #result, #target
        }
    }
}
