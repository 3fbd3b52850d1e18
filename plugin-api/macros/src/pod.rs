//! `#[ustruct(pod)]`: a struct of plain values that is passed by value; and `#[ustruct]` of a host, which is copied field by field.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, ItemStruct, LitStr, Result};

use crate::rules;
use crate::words::{Words, text_of, to_derive};
use crate::{docs, earlier_names, struct_field};

pub(crate) fn expand(words: &Words, item: ItemStruct) -> Result<TokenStream> {
    const ONE_WITH_A_BASE: &str = "remove `pod`, or declare a field of the other struct";
    let derives = to_derive(&item.attrs, &["Clone", "Copy"]);
    declared(words, item, ONE_WITH_A_BASE, &quote! { pod }, &quote! { #[repr(C)] #derives })
}

pub(crate) fn of_the_host(words: &Words, item: ItemStruct) -> Result<TokenStream> {
    if words.flag("pod")? {
        return expand(words, item);
    }
    const ONE_WITH_A_BASE: &str = "declare a field of the other struct, or use `NativeStruct`";
    declared(words, item, ONE_WITH_A_BASE, &quote! { structure }, &TokenStream::new())
}

fn declared(
    words: &Words,
    mut item: ItemStruct,
    one_with_a_base: &str,
    pattern: &TokenStream,
    attrs: &TokenStream,
) -> Result<TokenStream> {
    words.expect(&["pod", "package", "imported", "base", "was"])?;
    if let Some(base) = words.get("base") {
        return Err(rules::at(
            "ALC0182",
            base.name.span(),
            format!("a struct that is passed by value cannot extend another: {one_with_a_base}"),
        ));
    }
    let package = read(words, &item)?;
    let path = earlier_names::path(&package, &item.ident);
    let mut earlier = vec![earlier_names::of_type(words, &package, &item.ident)?];
    let (mut errors, mut rows, mut defaults) = (rules::Errors::default(), Vec::new(), Vec::new());
    for field in &mut item.fields {
        let Some(ident) = field.ident.clone() else { continue };
        let Some(default) = errors.take(struct_field::take(
            &mut field.attrs,
            &field.ty,
            words,
            (&format!("{path}:{}", text_of(&ident)), &mut earlier),
        )) else {
            continue;
        };
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
        #attrs
        #item
        #default
        const _: () = { #(#checks)* };
        ::alcedo_plugin_api::plumbing::#pattern! {
            #origin #name, package: #package, name: #text, doc: #doc, [#(#rows),*]
        }
        #(#earlier)*
    })
}

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
