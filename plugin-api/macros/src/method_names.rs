//! Finds two declarations that would define the same method of a view, such as a property `x` and a function `set_x`. The compiler
//! would report the duplicate in generated code, without the declarations.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Result;

use crate::attr_args::text_of;
use crate::conditions::Conditions;
use crate::rules;

/// Names of the methods of a view. For each name, lists the declarations: kind, name and conditions.
#[derive(Default)]
pub(crate) struct MethodNames(BTreeMap<String, Vec<(&'static str, Ident, Conditions)>>);

impl MethodNames {
    /// Adds the methods of a declaration. Rejects a second declaration with one of these methods.
    pub(crate) fn add(
        &mut self,
        (kind, declared): (&'static str, &Ident),
        methods: impl IntoIterator<Item = String>,
        conditions: &Conditions,
    ) -> Result<()> {
        for method in methods {
            let known = self.0.entry(method.clone()).or_default();
            if let Some((other_kind, other, _)) = known.iter().find(|(.., other)| other.overlap(conditions)) {
                let problem = format!(
                    "the method `{method}` is defined twice, for the {other_kind} `{other}` and for the {kind} `{declared}`: \
                     rename one of them"
                );
                return Err(rules::at("ALC0213", declared.span(), problem));
            }
            known.push((kind, declared.clone(), conditions.clone()));
        }
        Ok(())
    }

    /// Adds the accessors of a property or field.
    pub(crate) fn add_accessors(&mut self, kind: &'static str, declared: &Ident) -> Result<()> {
        let text = text_of(declared);
        let accessors = [text.clone(), format!("set_{text}"), format!("try_set_{text}")];
        self.add((kind, declared), accessors, &Conditions::default())
    }

    /// Expands to a check that no property of the class has one of these methods as an accessor. The compiler compares the names, because
    /// a block cannot read the struct.
    pub(crate) fn checked_with_properties(&self, class: &Ident) -> Option<TokenStream> {
        let pairs = self.0.iter().flat_map(|(method, declarations)| {
            let set = method.strip_prefix("try_").unwrap_or(method).strip_prefix("set_");
            let properties = [Some(method.as_str()), set];
            let pairs = properties.into_iter().flatten().map(move |property| quote! { (#method, #property) });
            pairs.flat_map(move |pair| {
                declarations.iter().map(move |(.., conditions)| conditions.on_element(pair.clone()))
            })
        });
        (!self.0.is_empty()).then(|| {
            quote_spanned! {class.span()=>
                const _: () = ::alcedo_plugin_api::__private::assert_no_accessor::<#class>(&[#(#pairs),*], " [ALC0213]");
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;
    use syn::parse_quote;

    use crate::impl_block::ImplBlock;
    use crate::native::Side;

    fn expanded(members: &TokenStream) -> Result<String, String> {
        let block = ImplBlock::of(quote! { impl Thing { #members } });
        let expanded = block.and_then(|block| crate::class_impl::expand(&parse_quote!(), block, Side::Plugin));
        expanded.map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    fn refused(members: &TokenStream) -> String {
        expanded(members).expect_err("two declarations define one method")
    }

    #[test]
    fn two_declarations_of_one_method_are_named() {
        let error = refused(&quote! {
            #[ufunction] fn go(&self) {}
            #[ufunction] fn try_go(&self) {}
        });
        assert!(
            error.contains("`try_go` is defined twice, for the function `go` and for the function `try_go`"),
            "{error}"
        );
        let error = refused(&quote! {
            #[overrides(Base)] fn ring(&self) {}
            #[ufunction] fn base_ring(&self) -> u32 { 1 }
        });
        assert!(error.contains("`base_ring` is defined twice, for the override `ring` and"), "{error}");
    }

    #[test]
    fn names_may_repeat_under_different_conditions() {
        let twice =
            |first: TokenStream| quote! { #first #[ufunction] fn go(&self) {} #[cfg(b)] #[ufunction] fn go(&self) {} };
        assert!(expanded(&twice(quote! { #[cfg(a)] })).is_ok());
        assert!(refused(&twice(quote! {})).contains("`go` is defined twice"));
        assert!(refused(&twice(quote! { #[cfg(b)] })).contains("`go` is defined twice"));
    }

    #[test]
    fn a_function_that_may_fail_has_one_method() {
        let members = quote! {
            #[ufunction] fn go(&self) -> Result<u32, String> { Ok(1) }
            #[ufunction] fn try_go(&self) -> Result<u32, String> { Ok(1) }
        };
        assert!(expanded(&members).is_ok());
    }

    #[test]
    fn the_check_compares_setters_with_their_properties() {
        let members = quote! { #[ufunction] fn set_x(&self) -> Result<u32, String> { Ok(1) } };
        let expanded = expanded(&members).unwrap_or_else(|error| panic!("{error}"));
        let pairs = quote! { (&[("set_x", "set_x"), ("set_x", "x")], " [ALC0213]") }.to_string();
        assert!(expanded.contains(&pairs), "{expanded}");
    }
}
