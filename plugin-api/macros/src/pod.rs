//! `#[ustruct(pod)]`: a struct of plain values that travels by value.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, ItemStruct, LitStr, Result};

use crate::class_struct::text_of;
use crate::rules;
use crate::words::Words;
use crate::{docs, struct_field};

pub(crate) fn expand(words: &Words, mut item: ItemStruct) -> Result<TokenStream> {
    words.expect(&["pod", "package", "imported", "base"])?;
    if let Some(base) = words.get("base") {
        return Err(rules::at(
            "ALC0182",
            base.name.span(),
            "a struct that travels by value lies in memory as its Rust fields say, and has none of a base: leave `pod` out, or have a \
             field of the other struct",
        ));
    }
    let package = read(words, &item)?;
    let (mut errors, mut rows, mut defaults) = (rules::Errors::default(), Vec::new(), Vec::new());
    for field in &mut item.fields {
        let Some(ident) = field.ident.clone() else { continue };
        let Some(default) = errors.take(struct_field::take(&mut field.attrs, &field.ty, words)) else { continue };
        let (text, ty, doc) = (text_of(&ident), &field.ty, docs::text(&field.attrs));
        let said = default.as_ref().map_or("", |default| &default.text);
        rows.push(quote! { (#ident, #text, #ty, #said, #doc) });
        defaults.push((ident, default));
    }
    errors.finish()?;
    let name = &item.ident;
    let (origin, text, doc) = (words.origin()?, text_of(name), docs::text(&item.attrs));
    let default = struct_field::default_of(name, &defaults);
    let checks = defaults.iter().filter_map(|(_, default)| default.as_ref()).map(|default| &default.check);
    Ok(quote! {
        #[repr(C)]
        #[derive(Clone, Copy)]
        #item
        #default
        const _: () = { #(#checks)* };
        ::alcedo_plugin_api::plumbing::pod! {
            #origin #name, package: #package, name: #text, doc: #doc, [#(#rows),*]
        }
    })
}

/// A struct of a host, which travels by value.
pub(crate) fn of_the_host(words: &Words, item: ItemStruct) -> Result<TokenStream> {
    if words.flag("pod")? {
        return expand(words, item);
    }
    Err(rules::spanned(
        "ALC0130",
        &item.ident,
        "a `#[ustruct]` of a host travels by value: say `pod`, with fields that are numbers, names or such structs; one with \
         other fields is declared with `NativeStruct`",
    ))
}

/// The package of a struct, which has fields with names.
pub(crate) fn read(words: &Words, item: &ItemStruct) -> Result<LitStr> {
    if !item.generics.params.is_empty() {
        return Err(rules::spanned("ALC0078", &item.generics, "a reflected struct is not generic"));
    }
    let Fields::Named(fields) = &item.fields else {
        return Err(rules::spanned("ALC0079", &item.ident, "a reflected struct has fields with names"));
    };
    if fields.named.is_empty() {
        return Err(rules::spanned("ALC0080", &item.ident, "a reflected struct has at least one field"));
    }
    words.package(&item.ident)
}
