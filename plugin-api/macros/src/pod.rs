//! `#[ustruct(pod)]`: a struct of plain values that travels by value.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, ItemStruct, LitStr, Result};

use crate::class_struct::text_of;
use crate::docs;
use crate::native::Side;
use crate::rules;
use crate::words::Words;

pub(crate) fn expand(words: &Words, item: ItemStruct, side: Side) -> Result<TokenStream> {
    words.expect(&["pod", "package", "imported"])?;
    let (package, rows) = read(words, &item, side)?;
    let name = &item.ident;
    let (origin, text, doc) = (words.origin()?, text_of(name), docs::text(&item.attrs));
    Ok(quote! {
        #[repr(C)]
        #[derive(Clone, Copy)]
        #item
        ::alcedo_plugin_api::plumbing::pod! {
            #origin #name, package: #package, name: #text, doc: #doc, [#(#rows),*]
        }
    })
}

/// A struct of a host, which travels by value.
pub(crate) fn of_the_host(words: &Words, item: ItemStruct) -> Result<TokenStream> {
    if words.flag("pod")? {
        return expand(words, item, Side::Host);
    }
    Err(rules::spanned(
        "ALC0130",
        &item.ident,
        "a `#[ustruct]` of a host travels by value: say `pod`, with fields that are numbers, names or such structs; one with \
         other fields is declared with `NativeStruct`",
    ))
}

/// The package of a struct, and its fields as the plumbing reads them.
pub(crate) fn read(words: &Words, item: &ItemStruct, side: Side) -> Result<(LitStr, Vec<TokenStream>)> {
    if !item.generics.params.is_empty() {
        return Err(rules::spanned("ALC0078", &item.generics, "a reflected struct is not generic"));
    }
    let Fields::Named(fields) = &item.fields else {
        return Err(rules::spanned("ALC0079", &item.ident, "a reflected struct has fields with names"));
    };
    if fields.named.is_empty() {
        return Err(rules::spanned("ALC0080", &item.ident, "a reflected struct has at least one field"));
    }
    let package = words.package(&item.ident)?;
    let rows = fields
        .named
        .iter()
        .filter_map(|field| {
            let (ident, ty) = (field.ident.as_ref()?, &field.ty);
            let text = text_of(ident);
            let doc = (side == Side::Host).then(|| docs::text(&field.attrs)).map(|doc| quote! { , #doc });
            Some(quote! { (#ident, #text, #ty #doc) })
        })
        .collect();
    Ok((package, rows))
}
