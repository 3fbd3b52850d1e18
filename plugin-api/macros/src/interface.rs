//! `#[uinterface]`: a trait that the author declares becomes a type, which stands for the name in the host.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemTrait, Result};

use crate::class_struct::text_of;
use crate::docs;
use crate::words::Words;

pub(crate) fn expand(words: &Words, item: &ItemTrait) -> Result<TokenStream> {
    words.expect(&["package", "imported"])?;
    refuse(item)?;
    let package = words.package(&item.ident)?;
    let (attrs, vis, name) = (&item.attrs, &item.vis, &item.ident);
    let (origin, text, doc) = (words.origin()?, text_of(name), docs::text(attrs));
    Ok(quote! {
        ::alcedo_plugin_api::plumbing::interface! {
            #origin #(#attrs)* #vis #name, package: #package, name: #text, doc: #doc
        }
    })
}

/// Refuses what a name alone cannot have.
fn refuse(item: &ItemTrait) -> Result<()> {
    if let Some(member) = item.items.first() {
        return Err(syn::Error::new_spanned(
            member,
            "an interface is a name for now, with nothing in it: declare functions in the classes that implement it, and call \
             them by name",
        ));
    }
    if let Some(base) = item.supertraits.first() {
        return Err(syn::Error::new_spanned(
            base,
            "an interface extends nothing: a class lists all that it implements",
        ));
    }
    if !item.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(
            &item.generics,
            "an interface is not generic: the host knows it by one path",
        ));
    }
    if let Some(bounds) = &item.generics.where_clause {
        return Err(syn::Error::new_spanned(bounds, "an interface requires nothing of the classes that implement it"));
    }
    match (&item.unsafety, &item.auto_token) {
        (Some(word), _) => Err(syn::Error::new_spanned(word, "an interface promises nothing that could be unsafe")),
        (None, Some(word)) => Err(syn::Error::new_spanned(word, "a class says itself what it implements")),
        (None, None) => Ok(()),
    }
}
