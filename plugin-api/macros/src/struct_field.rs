//! Attribute on a field of a struct, `#[uproperty(default = …)]`. The default becomes a string for the host, and a value in Rust.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Type};

use crate::attr_args::{AttrArgs, take_attr};
use crate::default_value::{DefaultValue, assigned, assigns};
use crate::earlier_names::{self, WAS};
use crate::migration;
use crate::rules;

/// Default that the attribute of a field specifies.
pub(crate) struct FieldDefault {
    /// Default in the syntax of the host.
    pub(crate) text: String,
    /// Code that compiles only if the value fits the field's type.
    pub(crate) check: TokenStream,
    pub(crate) value: TokenStream,
}

/// Removes the attributes from the field at `path`, and returns the default. Adds code that lists the field's earlier names to `earlier`.
pub(crate) fn take(
    attrs: &mut Vec<Attribute>,
    ty: &Type,
    struct_args: &AttrArgs,
    (path, earlier): (&str, &mut Vec<TokenStream>),
) -> syn::Result<Option<FieldDefault>> {
    rules::refuse(
        "ALC0085",
        take_attr(attrs, "keep")?,
        "every field of a `#[ustruct]` is reflected and stored in host memory: it needs no such attribute",
    )?;
    migration::refuse(
        attrs,
        "a field of a struct has no migrations: convert the property that holds the struct, from a struct of another name",
    )?;
    let Some(attr) = take_attr(attrs, "uproperty")? else { return Ok(None) };
    let attr_args = AttrArgs::of(&attr)?;
    attr_args.expect(&["default", WAS])?;
    if let Some(attr_arg) = attr_args.get("default").or(attr_args.get(WAS))
        && struct_args.flag("imported")?
    {
        return Err(rules::at(
            "ALC0180",
            attr_arg.name.span(),
            "default and earlier names of a field are for the declaration of the struct: this one is imported",
        ));
    }
    earlier.push(earlier_names::of(&attr_args, path)?);
    let Some(attr_arg) = attr_args.get("default") else {
        if attr_args.get(WAS).is_some() {
            return Ok(None);
        }
        return Err(rules::spanned(
            "ALC0085",
            attr,
            "every field of a `#[ustruct]` is reflected without a specifier: `#[uproperty(default = …)]` sets its initial value",
        ));
    };
    let Some(value) = &attr_arg.value else {
        return Err(rules::at("ALC0033", attr_arg.name.span(), "`default` takes a value: `default = 180.0`"));
    };
    let DefaultValue { text, check } = DefaultValue::of(value, ty)?;
    Ok(Some(FieldDefault { text, check, value: in_rust(value, ty) }))
}

/// Expands to an implementation of `Default` for a struct that is passed by value, if a field specifies a default.
pub(crate) fn default_of(name: &Ident, fields: &[(Ident, Option<FieldDefault>)]) -> Option<TokenStream> {
    fields.iter().any(|(_, default)| default.is_some()).then(|| {
        let values = fields.iter().map(|(field, default)| match default {
            Some(FieldDefault { value, .. }) => quote! { #field: #value },
            None => quote! { #field: ::alcedo_plugin_api::__private::core::default::Default::default() },
        });
        quote! {
            impl ::alcedo_plugin_api::__private::core::default::Default for #name {
                #[allow(deprecated, reason = "a deprecated field has a default, too")]
                /// Returns a struct with the specified defaults. A field without a specified default has the default of its type.
                fn default() -> Self {
                    Self { #(#values),* }
                }
            }
        }
    })
}

fn in_rust(value: &Expr, ty: &Type) -> TokenStream {
    if let Some(assigns) = assigns(value) {
        let (place, start) =
            (quote! { value }, quote! { ::alcedo_plugin_api::__private::core::default::Default::default() });
        // The host also starts a struct in a struct from the defaults of the inner type.
        let fields = assigns.into_iter().map(|assign| assigned(&place, assign, Some(&start)));
        return quote! {{
            let mut #place: #ty = #start;
            #(#fields)*
            #place
        }};
    }
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            quote! { <#ty as ::alcedo_plugin_api::__private::OfText>::of_text(#text) }
        }
        other => quote! { #other },
    }
}
