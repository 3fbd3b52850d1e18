//! `#[ustruct]` without `pod`: a struct that lives in host memory and is used where it lies.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemStruct, Result};

use crate::class_struct::{argument, text_of, view_of};
use crate::conditions::Conditions;
use crate::native::Side;
use crate::rules;
use crate::words::{Words, take_attr};
use crate::{docs, pod};

pub(crate) fn expand(words: &Words, item: &ItemStruct) -> Result<TokenStream> {
    words.expect(&["pod", "package", "imported"])?;
    let (package, _rows) = pod::read(words, item, Side::Plugin)?;
    let (name, vis, view) = (&item.ident, &item.vis, view_of(&item.ident));
    let mut rows = Vec::new();
    for field in &item.fields {
        Conditions::refuse(&field.attrs)?;
        let mut attrs = field.attrs.clone();
        for word in ["uproperty", "keep"] {
            if let Some(attr) = take_attr(&mut attrs, word)? {
                return Err(rules::spanned(
                    "ALC0085",
                    attr,
                    "every field of a `#[ustruct]` is reflected and lives in host memory: it needs no such attribute",
                ));
            }
        }
        let (Some(ident), ty) = (&field.ident, &field.ty) else { continue };
        let text = text_of(ident);
        let (set, try_set) = (format_ident!("set_{text}"), format_ident!("try_set_{text}"));
        let (attrs, arg) = (docs::shared(&attrs), argument(ty));
        rows.push(quote! { { #(#attrs)* #ident #set #try_set: #ty, #arg, name: #text } });
    }
    let (origin, text, doc) = (words.origin()?, text_of(name), docs::text(&item.attrs));
    let (attrs, view_doc) = (&item.attrs, format!("The fields of a [`{name}`], where it lies."));
    Ok(quote! {
        ::alcedo_plugin_api::plumbing::structure! {
            #origin #(#attrs)* #vis #name #view #view_doc, package: #package, name: #text, doc: #doc, [#(#rows)*]
        }
    })
}
