//! Conditions of members: code generated for a member with `#[cfg(…)]` must exist if and only if the member exists. This file handles
//! `cfg` itself, because the compiler passes an `impl` block to the attribute before it evaluates the conditions inside the block.

use crate::attr_args::name_of;
use crate::rules;
use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, File, Meta, Path, Result, Token};

#[derive(Clone, Default, PartialEq)]
pub(crate) struct Conditions(Vec<Attribute>);

impl Conditions {
    /// Returns the `cfg` conditions in `attrs`. Rejects `cfg_attr`, because the macro cannot evaluate its condition.
    pub(crate) fn of(attrs: &[Attribute]) -> Result<Self> {
        let conditions = Self::named(attrs, &["cfg", "cfg_attr"]);
        rules::refuse(
            "ALC0034",
            conditions.0.iter().find(|attr| name_of(attr) == "cfg_attr"),
            "`cfg_attr` is expanded after the checks of a class: write `#[cfg(…)]` on two functions or two whole declarations instead",
        )?;
        Ok(conditions)
    }

    /// Returns the `cfg` conditions in `attrs`, and ignores `cfg_attr`.
    pub(crate) fn cfg(attrs: &[Attribute]) -> Self {
        Self::named(attrs, &["cfg"])
    }

    fn named(attrs: &[Attribute], names: &[&str]) -> Self {
        Self(attrs.iter().filter(|attr| names.contains(&name_of(attr).as_str())).cloned().collect())
    }

    /// Returns the `cfg` conditions of a member. Rejects `cfg_attr` on a member with one of the attributes `own`, and `cfg_attr` that adds
    /// one of these attributes.
    pub(crate) fn of_member(attrs: &[Attribute], own: &[&str]) -> Result<Self> {
        let is_own = |path: &Path| path.segments.last().is_some_and(|last| own.iter().any(|name| last.ident == name));
        let adds_own = |attr: &Attribute| match attr.path().is_ident("cfg_attr") {
            true => attr
                .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                .map_or(true, |parts| parts.iter().skip(1).any(|added| is_own(added.path()))),
            false => is_own(attr.path()),
        };
        Self::of(attrs).or_else(|error| if attrs.iter().any(adds_own) { Err(error) } else { Ok(Self::cfg(attrs)) })
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if one of two members has no conditions, or if both have equal conditions. A build may then contain both members.
    pub(crate) fn overlap(&self, other: &Self) -> bool {
        self.is_none() || other.is_none() || self == other
    }

    /// Rejects a member with these conditions if a build may contain both this member and a member under `other`. If only the compiler can
    /// compare the conditions, expands to a check that reports `error`.
    pub(crate) fn exclude(&self, other: &Self, error: impl FnOnce() -> Error) -> Result<TokenStream> {
        if self.overlap(other) {
            return Err(error());
        }
        let (one, two, error) = (other.all(), self.all(), error().into_compile_error());
        Ok(quote! {
            #[cfg(all(#one, #two))]
            const _: () = #error;
        })
    }

    /// Returns the predicate of a `cfg` attribute that holds if all conditions hold.
    fn all(&self) -> TokenStream {
        let inner = self.0.iter().filter_map(|attr| attr.meta.require_list().ok()).map(|list| &list.tokens);
        quote! { all(#(#inner),*) }
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

    /// Expands to a constant `name: ty`. The constant has the value whose conditions hold, and otherwise `otherwise`.
    pub(crate) fn choice(
        name: &syn::Ident,
        ty: &TokenStream,
        values: &[(Self, TokenStream)],
        otherwise: &TokenStream,
    ) -> TokenStream {
        let constants =
            values.iter().map(|(conditions, value)| conditions.on_element(quote! { const #name: #ty = #value; }));
        let all = values.iter().map(|(conditions, _)| conditions.all());
        let otherwise = values.iter().all(|(conditions, _)| !conditions.is_none()).then(|| {
            quote! {
                #[cfg(not(any(#(#all),*)))]
                const #name: #ty = #otherwise;
            }
        });
        quote! { #(#constants)* #otherwise }
    }
}

#[cfg(test)]
mod tests {
    use super::Conditions;
    use proc_macro2::{Span, TokenStream};
    use quote::{format_ident, quote};
    use syn::{Attribute, parse_quote};

    fn conditions(attr: Attribute) -> Conditions {
        Conditions::of(&[attr]).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_members_of_different_conditions_exclude_each_other() {
        let (none, unix) = (Conditions::default(), conditions(parse_quote!(#[cfg(unix)])));
        let windows = conditions(parse_quote!(#[cfg(windows)]));
        assert!(unix.overlap(&unix.clone()) && unix.overlap(&none) && none.overlap(&unix));
        assert!(!unix.overlap(&windows));
    }

    #[test]
    fn members_whose_conditions_both_hold_are_refused_by_the_compiler() {
        let (unix, windows) = (conditions(parse_quote!(#[cfg(unix)])), conditions(parse_quote!(#[cfg(windows)])));
        let error = || crate::rules::at("ALC0005", Span::call_site(), "the second");
        assert!(unix.exclude(&unix.clone(), error).is_err());
        let check = windows.exclude(&unix, error).expect("only the compiler can compare them").to_string();
        let cfg = quote! { #[cfg(all(all(unix), all(windows)))] }.to_string();
        assert!(check.starts_with(&cfg) && check.contains("the second [ALC0005]"), "{check}");
    }

    #[test]
    fn cfg_attr_is_refused_only_on_members_with_own_attributes() {
        let refused = |attrs: &[Attribute]| Conditions::of_member(attrs, &["uproperty"]).is_err();
        let (quiet, hidden): (Attribute, Attribute) = (
            parse_quote!(#[cfg_attr(unix, allow(dead_code), serde(skip))]),
            parse_quote!(#[cfg_attr(unix, uproperty)]),
        );
        assert!(!refused(std::slice::from_ref(&quiet)));
        assert!(refused(&[hidden]) && refused(&[quiet, parse_quote!(#[uproperty(transient)])]));
    }

    #[test]
    fn a_choice_has_a_value_in_every_build() {
        let (unix, windows) = (conditions(parse_quote!(#[cfg(unix)])), conditions(parse_quote!(#[cfg(windows)])));
        let (name, ty, none) = (format_ident!("HOOK"), quote! { u8 }, quote! { 0 });
        let choice = |values: &[(Conditions, TokenStream)]| Conditions::choice(&name, &ty, values, &none).to_string();
        let expected = quote! {
            #[cfg(unix)]
            const HOOK: u8 = 1;
            #[cfg(windows)]
            const HOOK: u8 = 2;
            #[cfg(not(any(all(unix), all(windows))))]
            const HOOK: u8 = 0;
        };
        assert_eq!(choice(&[(unix, quote! { 1 }), (windows, quote! { 2 })]), expected.to_string());
        let always = [(Conditions::default(), quote! { 1 })];
        assert_eq!(choice(&always), quote! { const HOOK: u8 = 1; }.to_string());
    }
}
