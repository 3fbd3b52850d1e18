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
pub(crate) struct MethodNames {
    known: BTreeMap<String, Vec<Declaration>>,
    /// Expanded checks that the different conditions of two declarations of one method do not hold in one build.
    checks: TokenStream,
}

#[derive(Clone, PartialEq)]
struct Declaration {
    kind: &'static str,
    name: Ident,
    conditions: Conditions,
}

impl MethodNames {
    /// Adds the methods of a declaration. Rejects a second declaration with one of these methods. If the declarations have different
    /// conditions, [`Self::checked_with_properties`] expands to a check.
    pub(crate) fn add(
        &mut self,
        (kind, declared): (&'static str, &Ident),
        methods: impl IntoIterator<Item = String>,
        conditions: &Conditions,
    ) -> Result<()> {
        let mut compared = Vec::new();
        for method in methods {
            let known = self.known.entry(method.clone()).or_default();
            for other in known.iter() {
                if compared.contains(other) {
                    continue;
                }
                let check = conditions.exclude(&other.conditions, || {
                    let problem = format!(
                        "the method `{method}` is defined twice, for the {} `{}` and for the {kind} `{declared}`: rename one of \
                         them",
                        other.kind, other.name
                    );
                    rules::at("ALC0213", declared.span(), problem)
                })?;
                self.checks.extend(check);
                compared.push(other.clone());
            }
            known.push(Declaration { kind, name: declared.clone(), conditions: conditions.clone() });
        }
        Ok(())
    }

    /// Adds the accessors of a property or field.
    pub(crate) fn add_accessors(&mut self, kind: &'static str, declared: &Ident) -> Result<()> {
        let text = text_of(declared);
        let accessors = [text.clone(), format!("set_{text}"), format!("try_set_{text}")];
        self.add((kind, declared), accessors, &Conditions::default())
    }

    /// Expands to the checks of declarations with different conditions, and to a check that no property of the class has one of these
    /// methods as an accessor. The compiler compares the names, because a block cannot read the struct.
    pub(crate) fn checked_with_properties(&self, class: &Ident) -> Option<TokenStream> {
        let pairs = self.known.iter().flat_map(|(method, declarations)| {
            let set = method.strip_prefix("try_").unwrap_or(method).strip_prefix("set_");
            let properties = [Some(method.as_str()), set];
            let pairs = properties.into_iter().flatten().map(move |property| quote! { (#method, #property) });
            pairs.flat_map(move |pair| {
                declarations.iter().map(move |declared| declared.conditions.on_element(pair.clone()))
            })
        });
        (!self.known.is_empty()).then(|| {
            let check = quote_spanned! {class.span()=>
                const _: () = ::alcedo_plugin_api::__private::assert_no_accessor::<#class>(&[#(#pairs),*], " [ALC0213]");
            };
            let checks = &self.checks;
            quote! { #checks #check }
        })
    }
}

#[cfg(test)]
mod tests {
    use quote::{format_ident, quote};
    use syn::{Attribute, parse_quote};

    use super::MethodNames;
    use crate::conditions::Conditions;

    /// Adds functions in order, each with its methods and its attributes. Returns the message about the first function that is refused.
    fn refused(functions: &[(&str, &[&str], &[Attribute])]) -> Option<String> {
        let mut names = MethodNames::default();
        let refused = functions.iter().find_map(|(name, methods, attrs)| {
            let conditions = Conditions::of(attrs).expect("the attributes are conditions");
            let methods = methods.iter().map(|method| (*method).to_owned());
            names.add(("function", &format_ident!("{name}")), methods, &conditions).err()
        });
        refused.map(|error| error.to_string())
    }

    #[test]
    fn two_declarations_of_one_method_are_named() {
        let error = refused(&[("go", &["go", "try_go"], &[]), ("try_go", &["try_go"], &[])]).expect("one method twice");
        assert!(
            error.contains("`try_go` is defined twice, for the function `go` and for the function `try_go`"),
            "{error}"
        );
        assert_eq!(refused(&[("go", &["try_go"], &[]), ("try_go", &["try_try_go"], &[])]), None);
        let mut names = MethodNames::default();
        names.add_accessors("property", &format_ident!("x")).expect("the first property");
        names.add_accessors("property", &format_ident!("set_x")).expect_err("`set_x` is also the setter of `x`");
    }

    #[test]
    fn names_may_repeat_under_different_conditions() {
        let (a, b): (Attribute, Attribute) = (parse_quote!(#[cfg(a)]), parse_quote!(#[cfg(b)]));
        let twice = |first: &[Attribute]| refused(&[("go", &["go"], first), ("go", &["go"], std::slice::from_ref(&b))]);
        assert_eq!(twice(&[a]), None);
        assert!(twice(&[]).is_some() && twice(std::slice::from_ref(&b)).is_some());
    }

    #[test]
    fn each_pair_of_declarations_with_different_conditions_has_one_check() {
        let mut names = MethodNames::default();
        let attrs: [Attribute; 3] = [parse_quote!(#[cfg(a)]), parse_quote!(#[cfg(b)]), parse_quote!(#[cfg(c)])];
        for attr in attrs {
            let conditions = Conditions::of(&[attr]).expect("a condition");
            let added = names.add(("function", &format_ident!("go")), ["go", "try_go"].map(str::to_owned), &conditions);
            added.expect("the conditions differ");
        }
        let expanded = names.checked_with_properties(&format_ident!("Thing")).expect("checks").to_string();
        let check = quote! { #[cfg(all(all(a), all(c)))] const _: () = }.to_string();
        assert!(expanded.contains(&check), "{expanded}");
        assert_eq!(expanded.matches("compile_error").count(), 3, "{expanded}");
    }

    #[test]
    fn the_check_compares_setters_with_their_properties() {
        let mut names = MethodNames::default();
        let added = names.add(("function", &format_ident!("set_x")), ["set_x".to_owned()], &Conditions::default());
        added.expect("the first function");
        let expanded = names.checked_with_properties(&format_ident!("Thing")).expect("a check").to_string();
        let pairs = quote! { (&[("set_x", "set_x"), ("set_x", "x")], " [ALC0213]") }.to_string();
        assert!(expanded.contains(&pairs), "{expanded}");
    }
}
