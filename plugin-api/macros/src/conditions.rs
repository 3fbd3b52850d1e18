//! Conditions: what is written for a member that says `#[cfg(…)]` is there exactly when the member is. The compiler
//! hands an `impl` block over before it has looked at the conditions inside.

use crate::rules;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, File, Result};

/// The conditions of a member.
#[derive(Clone, Default)]
pub(crate) struct Conditions(Vec<Attribute>);

impl Conditions {
    /// Those among `attrs`. One behind `cfg_attr` cannot be seen yet, so it is refused.
    pub(crate) fn of(attrs: &[Attribute]) -> Result<Self> {
        if let Some(attr) = attrs.iter().find(|attr| attr.path().is_ident("cfg_attr")) {
            return Err(rules::spanned(
                "ALC0034",
                attr,
                "`cfg_attr` is looked at after the rules of a class: say `#[cfg(…)]` on two members instead",
            ));
        }
        Ok(Self(attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()))
    }

    /// Whether there are none.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses any: the plugin part of a class and its properties are the same in every build of the module.
    pub(crate) fn refuse(attrs: &[Attribute]) -> Result<()> {
        match Self::of(attrs)?.0.first() {
            None => Ok(()),
            Some(attr) => Err(rules::spanned(
                "ALC0035",
                attr,
                "a field of a reflected class has no condition: put `#[cfg(…)]` on two declarations of the whole class",
            )),
        }
    }

    /// Every item of `items` under these conditions.
    pub(crate) fn on_items(&self, items: TokenStream) -> Result<TokenStream> {
        if self.0.is_empty() {
            return Ok(items);
        }
        let (conditions, items) = (&self.0, syn::parse2::<File>(items)?.items);
        let conditions = quote! { #(#conditions)* };
        Ok(quote! { #(#conditions #items)* })
    }

    /// An element of a list under these conditions.
    pub(crate) fn on_element(&self, element: &TokenStream) -> TokenStream {
        let conditions = &self.0;
        quote! { #(#conditions)* #element }
    }

    /// A constant `name: ty` that is `value` under these conditions and `otherwise` without them.
    pub(crate) fn either(
        &self,
        name: &syn::Ident,
        ty: &TokenStream,
        value: &TokenStream,
        otherwise: &TokenStream,
    ) -> TokenStream {
        let Self(conditions) = self;
        if conditions.is_empty() {
            return quote! { const #name: #ty = #value; };
        }
        let inner = conditions.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
        quote! {
            #(#conditions)*
            const #name: #ty = #value;
            #[cfg(not(all(#(#inner),*)))]
            const #name: #ty = #otherwise;
        }
    }
}
