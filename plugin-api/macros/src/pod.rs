//! `#[ustruct(pod)]`: a struct of plain values that travels by value.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, ItemStruct, Result};

use crate::docs;
use crate::words::Words;

pub(crate) fn expand(words: &Words, item: ItemStruct) -> Result<TokenStream> {
    words.expect(&["pod", "package", "imported"])?;
    if !words.flag("pod")? {
        return Err(syn::Error::new(
            words.span(),
            "say `pod`: a struct that travels by value is the only kind there is so far",
        ));
    }
    if !item.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&item.generics, "a reflected struct is not generic"));
    }
    let Fields::Named(fields) = &item.fields else {
        return Err(syn::Error::new_spanned(&item.ident, "a reflected struct has fields with names"));
    };
    if fields.named.is_empty() {
        return Err(syn::Error::new_spanned(&item.ident, "a reflected struct has at least one field"));
    }
    let package = words.package(&item.ident)?;
    let name = &item.ident;
    let path = format!("/Script/{}.{name}", package.value());
    let rows: Vec<_> = fields
        .named
        .iter()
        .filter_map(|field| {
            let (ident, ty) = (field.ident.as_ref()?, &field.ty);
            let text = syn::ext::IdentExt::unraw(ident).to_string();
            Some(quote! { (#ident, #text, #ty) })
        })
        .collect();
    let declare = if words.flag("imported")? {
        quote! { ::alcedo_plugin_api::plumbing::pod! { import: #path } }
    } else {
        let (text, doc) = (name.to_string(), docs::text(&item.attrs));
        quote! { ::alcedo_plugin_api::plumbing::pod! { emit: #package, #text, #doc, [#(#rows),*] } }
    };
    Ok(quote! {
        #[repr(C)]
        #[derive(Clone, Copy)]
        #item
        const _: () = {
            ::alcedo_plugin_api::plumbing::pod! { #name, #path, [#(#rows),*] }
            #declare
        };
    })
}
