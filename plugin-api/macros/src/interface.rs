//! Expands `#[uinterface]`: replaces the author's trait by a type and a view. The type represents the interface in references and lists.
//! The view has a method for each function, which calls the function.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{ItemTrait, Result, TraitItem, TraitItemFn};

use crate::attr_args::{AttrArgs, text_of};
use crate::class_struct::view_of;
use crate::conditions::Conditions;
use crate::docs;
use crate::earlier_names;
use crate::method::{Method, Parameter};
use crate::method_names::MethodNames;
use crate::rules;

pub(crate) fn expand(attr_args: &AttrArgs, item: &ItemTrait) -> Result<TokenStream> {
    let mut errors = rules::Errors::default();
    errors.take(attr_args.expect(&["package", "imported", "was"]));
    errors.take(refuse(item));
    let package = errors.take(attr_args.package(&item.ident));
    let functions: Vec<_> = item.items.iter().filter_map(|member| errors.take(Function::of(member))).collect();
    let mut methods = MethodNames::default();
    for Function { method, .. } in &functions {
        let names = method.names_on_view(&method.name);
        errors.take(methods.add(("function", &method.name), names, &Conditions::default()));
        if attr_args.get("imported").is_none() {
            errors.take(method.expect_distinct_names());
        }
    }
    let package = errors.unless(package)?;
    let attrs = item.attrs.iter().map(docs::allowing);
    let (vis, name, view) = (&item.vis, &item.ident, view_of(&item.ident));
    let (origin, text, doc) = (attr_args.origin()?, text_of(name), docs::text(&item.attrs));
    let earlier = earlier_names::of_type(attr_args, &package, name)?;
    let view_doc = format!("Operations on an object viewed as a [`{name}`].");
    let (descriptions, callers) =
        (functions.iter().map(Function::description), functions.iter().map(|function| function.callers(item)));
    Ok(quote! {
        ::alcedo_plugin_api::__private::interface! {
            #origin #(#attrs)* #vis #name #view #view_doc, package: #package, name: #text, doc: #doc,
            functions: [#({ #descriptions })*],
        }
        #earlier
        #(#callers)*
    })
}

struct Function<'a> {
    declared: &'a TraitItemFn,
    method: Method,
}

impl<'a> Function<'a> {
    fn of(member: &'a TraitItem) -> Result<Self> {
        let TraitItem::Fn(declared) = member else {
            return Err(rules::spanned(
                "ALC0046",
                member,
                "an interface has functions only: state belongs in the properties of each class",
            ));
        };
        rules::refuse(
            "ALC0047",
            declared.default.as_ref(),
            "a function of an interface has no body here: each class that implements it writes one",
        )?;
        rules::refuse(
            "ALC0048",
            declared.attrs.iter().find(|attr| !docs::is_shared(attr)),
            "a function of an interface has the same signature in every build: only doc comments, `deprecated`, `allow` and `expect` \
             are allowed",
        )?;
        let method = Method::of(&declared.sig)?;
        method.needs_self(&declared.sig, "a function of an interface")?;
        rules::refuse(
            "ALC0049",
            method.has_this.then(|| &declared.sig.inputs[1]),
            "the declaration lists the arguments of callers; `this` is a parameter of the bodies",
        )?;
        Ok(Self { declared, method })
    }

    /// Expands to the description in the syntax of the `interface!` macro.
    fn description(&self) -> TokenStream {
        let Self { declared, method } = self;
        let (signature, name) = (&declared.sig, method.text());
        let (text, doc, fallible) = (signature_text(signature), docs::text(&declared.attrs), method.result.may_fail);
        let (types, names) = (method.types(), method.parameters.iter().map(|parameter| &parameter.text));
        let result = method.result_type();
        quote! { #name (#(#names: #types),*) -> #result, may_fail: #fallible, text: #text, doc: #doc }
    }

    /// Expands to the calls on the view, and to the import of the function. The module that declares the interface also needs the import,
    /// because the import receives the handle by which the function is called.
    fn callers(&self, item: &ItemTrait) -> TokenStream {
        let (interface, view, Self { declared, method }) = (&item.ident, view_of(&item.ident), self);
        let names = ["Interface", "import_interface_function"];
        let imported = method.imported((interface, &view), names, &declared.attrs);
        let (check, allowed) = (method.result.check(), docs::allowed(&item.attrs));
        let crosses = method.parameters.iter().map(|Parameter { ty, .. }| {
            quote_spanned! {ty.span()=> const _: () = ::alcedo_plugin_api::__private::crosses::<#ty>(); }
        });
        quote! {
            #(#allowed)*
            const _: () = {
                #imported
                #(#crosses)*
                #check
            };
        }
    }
}

/// Formats a signature in the author's spelling, for messages.
fn signature_text(signature: &syn::Signature) -> String {
    let text = quote! { #signature }.to_string();
    let loose = [" (", " ,", " :", " <", "< ", " >", "& ", " ::", ":: ", "( ", " )"];
    let text = loose.iter().fold(text, |text, loose| text.replace(loose, loose.trim()));
    text.replace("->", " ->").replace("  ->", " ->")
}

/// Rejects traits with syntax that interfaces do not support.
fn refuse(item: &ItemTrait) -> Result<()> {
    rules::refuse(
        "ALC0050",
        item.supertraits.first(),
        "an interface extends no other: a class lists all interfaces that it implements",
    )?;
    rules::refuse_generics("ALC0051", &item.generics, "an interface is not generic: the host knows it by one path")?;
    rules::refuse(
        "ALC0052",
        item.generics.where_clause.as_ref(),
        "an interface requires nothing of the classes that implement it",
    )?;
    rules::refuse(
        "ALC0053",
        item.unsafety.as_ref(),
        "an interface cannot be unsafe: its implementations promise nothing",
    )?;
    rules::refuse(
        "ALC0054",
        item.auto_token.as_ref(),
        "an interface cannot be `auto`: a class lists the interfaces that it implements",
    )
}

#[cfg(test)]
mod tests {
    use super::signature_text;

    #[test]
    fn a_signature_reads_as_it_was_written() {
        let text = "fn hear(&self, what: UArray<f64>, who: Option<u32>) -> Result<u32, CallError>";
        let signature: syn::Signature = syn::parse_str(text).expect("a signature");
        assert_eq!(signature_text(&signature), text);
        let text = "fn stop(&mut self)";
        assert_eq!(signature_text(&syn::parse_str(text).expect("a signature")), text);
    }
}
