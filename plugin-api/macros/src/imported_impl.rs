//! `#[uclass(imported)]` on an `impl` of declarations: functions that the host or another module implements.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, ImplItem, ItemImpl, Result, TraitItemFn};

use crate::class_impl::event_constant;
use crate::class_struct::view_of;
use crate::conditions::Conditions;
use crate::docs;
use crate::method::Method;
use crate::words::{Words, take_attr};

pub(crate) fn expand(item: &ItemImpl, class: &Ident) -> Result<TokenStream> {
    let view = view_of(class);
    let mut members = Vec::new();
    for member in &item.items {
        let ImplItem::Verbatim(tokens) = member else {
            return Err(syn::Error::new_spanned(
                member,
                "an imported class has declarations only, `#[ufunction] fn name(&self, …);`: its bodies are elsewhere",
            ));
        };
        members.push(declaration(class, &view, syn::parse2(tokens.clone())?)?);
    }
    Ok(quote! { const _: () = { #(#members)* }; })
}

fn declaration(class: &Ident, view: &Ident, declaration: TraitItemFn) -> Result<TokenStream> {
    let TraitItemFn { mut attrs, sig, .. } = declaration;
    let Some(attr) = take_attr(&mut attrs, "ufunction")? else {
        return Err(syn::Error::new_spanned(sig, "say `#[ufunction]`: only reflected functions can be imported"));
    };
    let words = Words::of(&attr)?;
    words.expect(&["blueprint_native_event"])?;
    let method = Method::of(&sig)?;
    if !method.is_static() {
        method.needs_self(&sig, "an imported function with `this`")?;
    }
    if method.wants_this {
        return Err(syn::Error::new_spanned(&sig.inputs[1], "the declaration lists what a caller gives"));
    }
    let conditions = Conditions::of(&attrs)?;
    let text = method.text();
    let cell = format_ident!("ALCEDO_OF_{}", text.to_uppercase());
    let path = quote! {
        ::alcedo_plugin_api::plumbing::join!(<#class as ::alcedo_plugin_api::plumbing::Class>::PATH, ":", #text)
    };
    let callers = method.callers(view, &method.name, &cell, &path, &docs::shared(&attrs));
    let event = words
        .flag("blueprint_native_event")?
        .then(|| event_constant(view, &method.event_constant(), &method.as_fn_type()));
    let declared = method.cell(&cell, class);
    conditions.on_items(quote! {
        #declared
        ::alcedo_plugin_api::plumbing::register! {
            IMPORTS: ::alcedo_plugin_api::plumbing::ImportDesc =
                ::alcedo_plugin_api::plumbing::import_function(#path, &#cell)
        }
        #callers
        #event
    })
}
