//! Expands `#[uclass] impl Heeds for Cat`: method bodies with which a class implements an interface. Each body becomes an event of the
//! class, so that subclasses can override it. The compiler compares the block with the interface.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, Result};

use crate::attr_args::{AttrArgs, name_of};
use crate::class_impl::{Body, ROLES, class_of};
use crate::class_struct::{bodies_of, formatted};
use crate::conditions::Conditions;
use crate::docs;
use crate::impl_block::{Function, ImplBlock, Member};
use crate::method::Method;
use crate::mistakes;
use crate::native::Side;
use crate::rules;
use crate::type_names::name_self;

pub(crate) fn expand(attr_args: &AttrArgs, interface: &Path, mut block: ImplBlock, side: Side) -> Result<TokenStream> {
    attr_args.expect_on_impl(&[])?;
    block.head.trait_ = None;
    let class = &class_of(&block.head)?;
    let (mut body, mut names) = (Body::new(class, side), Vec::new());
    let mut errors = rules::Errors::default();
    for member in &mut block.members {
        let Member::Function(function) = member else {
            errors.take::<()>(Err(rules::spanned(
                "ALC0055",
                &*member,
                "this block has a body for each function of the interface, `fn hear(&mut self, this: This<Self>, …) { … }`, \
                 and nothing else",
            )));
            continue;
        };
        let written = function.sig.clone();
        name_self(&mut function.sig, class);
        errors.take(add(&mut body, interface, function));
        let name = crate::attr_args::text_of(&function.sig.ident);
        names.push(Conditions::cfg(&function.attrs).on_element(quote! { #name }));
        function.sig = written;
    }
    let calls = errors.take(body.calls());
    let (calls, table) = (errors.unless(calls)?, body.names());
    let (expanded, functions) = (&body.expanded, &body.functions);
    let (bodies, name, allowed) = (bodies_of(interface), formatted(interface), docs::allowed(&block.head.attrs));
    let absent = format!("`{class}` has no body for `");
    let declares = format!("`, which `{name}` declares [ALC0103]");
    let lists = quote_spanned! {interface.span()=>
        ::alcedo_plugin_api::__private::contains(
            <#class as ::alcedo_plugin_api::__private::Class>::IMPLEMENTS,
            <#interface as ::alcedo_plugin_api::__private::Interface>::PATH,
        )
    };
    let problem = format!("`{class}` does not list `{name}`: write `#[uclass(…, implements({name}))]` on its struct");
    let listed = rules::asserted("ALC0104", interface.span(), &lists, problem);
    let checks = quote_spanned! {interface.span()=>
        const ALCEDO_ABSENT: &::core::primitive::str =
            ::alcedo_plugin_api::__private::first_absent(
                <#interface as ::alcedo_plugin_api::__private::Interface>::FUNCTIONS, &[#(#names),*]
            );
        const _: () = ::core::assert!(
            ALCEDO_ABSENT.is_empty(),
            "{}",
            ::alcedo_plugin_api::__private::join!(#absent, ALCEDO_ABSENT, #declares)
        );
        #listed
    };
    let required = docs::required_signatures();
    Ok(quote! {
        #required
        #block
        #(#allowed)*
        const _: () = {
            #(#expanded)*
            #calls
            #table
            #[allow(deprecated, reason = "describes a deprecated function without a call")]
            const ALCEDO_FUNCTIONS: &[::alcedo_plugin_api::__private::Function<#class>] = &[#(#functions),*];
            #checks
            impl #class {
                #[doc(hidden)]
                #[allow(dead_code, reason = "an assertion above checks that the class lists the interface")]
                pub(crate) const #bodies: ::alcedo_plugin_api::__private::Bodies<Self, #interface> =
                    ::alcedo_plugin_api::__private::Bodies::new(ALCEDO_FUNCTIONS);
            }
        };
    })
}

fn add(body: &mut Body<'_>, interface: &Path, function: &Function) -> Result<()> {
    let has_role = |attr: &&syn::Attribute| ROLES.contains(&name_of(attr).as_str());
    let role = function.attrs.iter().find(has_role);
    rules::refuse("ALC0056", role, "a body of an interface function cannot have another role")?;
    let (conditions, mark) = (Conditions::of(&function.attrs)?, body.mark());
    let method = Method::of(&function.sig)?;
    method.needs_self(&function.sig, "a body for an interface")?;
    let (text, types, result) = (method.text(), method.types(), method.result_type());
    let (name, interface_name) = (&method.name, formatted(interface));
    let differs = format!("`{interface_name}` declares `");
    let same = "`: the body must have the same parameters and result, apart from `this` [ALC0106]";
    let unknown = format!("`{interface_name}` declares no function `{text}`, but ");
    body.expanded.push(quote_spanned! {name.span()=>
        const _: () = {
            const ALCEDO_DECLARED: &::core::primitive::str =
                ::alcedo_plugin_api::__private::declared_as(
                    <#interface as ::alcedo_plugin_api::__private::Interface>::FUNCTIONS, #text
                );
            ::core::assert!(
                !ALCEDO_DECLARED.is_empty(),
                "{}",
                ::alcedo_plugin_api::__private::join!(
                    #unknown, <#interface as ::alcedo_plugin_api::__private::Interface>::NAMES, " [ALC0105]"
                )
            );
            ::core::assert!(
                ::alcedo_plugin_api::__private::has_signature::<#interface, (#(#types,)*), #result>(#text),
                "{}",
                ::alcedo_plugin_api::__private::join!(#differs, ALCEDO_DECLARED, #same)
            );
        };
    });
    let flags = "::alcedo_plugin_api::__private::function_flags::NATIVE_EVENT \
        | ::alcedo_plugin_api::__private::function_flags::CALLABLE";
    let cell = body.reflect(&method, &method.name, None, flags, &"", &function.attrs)?;
    body.call(&method, &cell, &docs::shared(&function.attrs));
    body.event_constant(&method);
    body.expanded.push(mistakes::checks(body.class, function, &mut Vec::new()));
    body.condition(&conditions, mark)
}

#[cfg(test)]
mod tests {
    use quote::{format_ident, quote};
    use syn::parse_quote;

    use crate::class_impl::ROLES;
    use crate::impl_block::ImplBlock;
    use crate::native::Side;

    #[test]
    fn a_body_of_an_interface_function_has_no_other_role() {
        for role in ROLES.map(|role| format_ident!("{role}")) {
            let block = ImplBlock::of(quote! { impl Heeds for Cat { #[#role] fn hear(&mut self) {} } });
            let block = block.unwrap_or_else(|error| panic!("{error}"));
            let refused = super::expand(&parse_quote!(), &parse_quote!(Heeds), block, Side::Plugin);
            let error = refused.expect_err("another role").to_string();
            assert!(error.contains("ALC0056"), "{role}: {error}");
        }
    }

    #[test]
    fn all_errors_of_a_block_are_reported_together() {
        let block = quote! { impl Heeds for Cat { #[cfg_attr(unix, inline)] fn hear(&self) {} const EARS: u32 = 2; } };
        let block = ImplBlock::of(block).unwrap_or_else(|error| panic!("{error}"));
        let error = super::expand(&parse_quote!(), &parse_quote!(Heeds), block, Side::Plugin).expect_err("two errors");
        let reported = error.into_compile_error().to_string();
        assert!(reported.contains("ALC0034") && reported.contains("ALC0055"), "{reported}");
    }
}
