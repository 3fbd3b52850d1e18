//! Once-only members in the `impl` block of a class: the red constructor, and hooks that run once in the lifetime of an object.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, Ident, Result, Signature};

use super::{Body, Hook};
use crate::attr_args::AttrArgs;
use crate::conditions::Conditions;
use crate::method::{Method, SelfKind};
use crate::rules;

/// Expands to a constant with an optional hook, and to an expression with the value of the constant.
pub(super) fn hook(name: &str, class: &Ident, hooks: &[Hook]) -> (TokenStream, TokenStream) {
    let none = quote! { ::core::option::Option::None };
    if hooks.is_empty() {
        return (TokenStream::new(), none);
    }
    let name = format_ident!("{name}");
    let ty = quote! { ::core::option::Option<::alcedo_plugin_api::__private::Hook<#class>> };
    let some = hooks.iter().map(|(conditions, trampoline)| {
        let hook = quote! { ::core::option::Option::Some(::alcedo_plugin_api::__private::hook::<#trampoline>()) };
        (conditions.clone(), hook)
    });
    (Conditions::choice(&name, &ty, &some.collect::<Vec<_>>(), &none), quote! { #name })
}

/// Returns the conditions of the known members of a once-only kind.
fn conditions_of<T>(known: &[(Conditions, T)]) -> Vec<Conditions> {
    known.iter().map(|(conditions, _)| conditions.clone()).collect()
}

impl Body<'_> {
    pub(super) fn red_constructor(
        &mut self,
        attr: &Attribute,
        signature: &Signature,
        conditions: &Conditions,
    ) -> Result<()> {
        AttrArgs::of(attr)?.expect(&[])?;
        let second = || rules::spanned("ALC0005", attr, "a class has one red constructor: this is the second");
        self.exclude(&conditions_of(&self.red_constructors), conditions, second)?;
        let method = Method::of(signature)?;
        rules::refuse(
            "ALC0006",
            (method.self_kind != SelfKind::None).then_some(&signature.inputs),
            "a red constructor builds the plugin part, so it takes no `self`: `fn new(this: This<Self>) -> Self`",
        )?;
        rules::refuse(
            "ALC0007",
            method.parameters.first().map(|parameter| &parameter.ty),
            "the host calls a red constructor, in its construction and in each reload: it takes `this` and nothing else",
        )?;
        rules::refuse(
            "ALC0008",
            method.result.may_fail.then_some(&signature.output),
            "a red constructor returns the plugin part itself, `-> Self`: move fallible code to a function that is called \
                 later",
        )?;
        if method.result.returned.is_none() {
            return Err(rules::spanned("ALC0009", signature, "a red constructor returns the plugin part: `-> Self`"));
        }
        let name = &signature.ident;
        let this = method.has_this.then(|| quote! { this });
        let item = quote! {
            #[doc(hidden)]
            #[allow(unused_variables, reason = "a red constructor may ignore `this`")]
            pub(crate) fn alcedo_red_constructor(this: ::alcedo_plugin_api::__private::This<'_, Self>) -> Self {
                Self::#name(#this)
            }
        };
        self.red_constructors.push((conditions.clone(), item));
        Ok(())
    }

    /// Rejects a once-only member if a build may contain both this member and one of the members under `known`.
    fn exclude(&mut self, known: &[Conditions], own: &Conditions, second: impl Fn() -> Error) -> Result<()> {
        for other in known {
            let check = own.exclude(other, &second)?;
            self.expand(check);
        }
        Ok(())
    }

    /// Adds a hook to the list that `hooks` returns.
    pub(super) fn life_hook(
        &mut self,
        attr: &Attribute,
        signature: &Signature,
        what: &str,
        own: &Conditions,
        hooks: fn(&mut Self) -> &mut Vec<Hook>,
    ) -> Result<()> {
        AttrArgs::of(attr)?.expect(&[])?;
        let second = || rules::spanned("ALC0010", attr, format!("a class has one {what}: this is the second"));
        let known = conditions_of(hooks(self));
        self.exclude(&known, own, second)?;
        let method = Method::of(signature)?;
        let named = format!("a {what}");
        method.needs_self(signature, &named)?;
        method.expect_no_parameters_or_result(&named)?;
        let trampoline = self.next_trampoline();
        self.expanded.push(method.trampoline(&trampoline, self.class, &method.call(self.class, &method.name)));
        hooks(self).push((own.clone(), trampoline));
        Ok(())
    }
}
