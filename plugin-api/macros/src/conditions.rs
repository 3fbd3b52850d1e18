//! Conditions of members: code generated for a member with `#[cfg(…)]` must exist if and only if the member exists. This file handles
//! `cfg` itself, because the compiler passes an `impl` block to the attribute before it evaluates the conditions inside the block.

use crate::attr_args::name_of;
use crate::rules;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, File, Result};

#[derive(Clone, Default)]
pub(crate) struct Conditions(Vec<Attribute>);

impl Conditions {
    /// Returns the `cfg` conditions in `attrs`. Rejects `cfg_attr`, because the macro cannot evaluate its condition.
    pub(crate) fn of(attrs: &[Attribute]) -> Result<Self> {
        let mut conditions = Vec::new();
        for attr in attrs {
            match name_of(attr).as_str() {
                "cfg" => conditions.push(attr.clone()),
                "cfg_attr" => {
                    return Err(rules::spanned(
                        "ALC0034",
                        attr,
                        "`cfg_attr` is expanded after the checks of a class: write `#[cfg(…)]` on two members instead",
                    ));
                }
                _ => {}
            }
        }
        Ok(Self(conditions))
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Rejects conditions, because the expansion lists fields and entries, and the list must be equal in every build of the module.
    pub(crate) fn refuse(attrs: &[Attribute]) -> Result<()> {
        Self::of(attrs)?;
        Self::refuse_cfg(attrs)
    }

    /// Rejects `cfg`, but permits `cfg_attr`, for members whose attributes the compiler expands after the macro.
    pub(crate) fn refuse_cfg(attrs: &[Attribute]) -> Result<()> {
        rules::refuse(
            "ALC0035",
            attrs.iter().find(|attr| attr.path().is_ident("cfg")),
            "a field, an entry, a parameter or a constructor has no condition: put `#[cfg(…)]` on two whole declarations",
        )
    }

    /// Applies the conditions to every item of `items`.
    pub(crate) fn on_items(&self, items: TokenStream) -> Result<TokenStream> {
        if self.0.is_empty() {
            return Ok(items);
        }
        let (conditions, items) = (&self.0, syn::parse2::<File>(items)?.items);
        let conditions = quote! { #(#conditions)* };
        Ok(quote! { #(#conditions #items)* })
    }

    /// Applies the conditions to an element of a list.
    pub(crate) fn on_element(&self, element: TokenStream) -> TokenStream {
        let Self(conditions) = self;
        if conditions.is_empty() {
            element
        } else {
            quote! { #(#conditions)* #element }
        }
    }

    /// Expands to a constant `name: ty`, whose value is `value` if the conditions hold, and otherwise `otherwise`.
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
