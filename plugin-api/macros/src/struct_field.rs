//! Attribute on a field of a struct, `#[uproperty(default = …)]`. The default becomes a string for the host, and a value in Rust.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, ExprLit, Field, Lit, Type};

use crate::attr_args::{AttrArgs, take_attr, text_of};
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

/// Removes the attributes from a field of the struct at `path`, and returns the default. Adds code that lists the field's earlier names to
/// `earlier`.
pub(crate) fn take(
    Field { attrs, ident, ty, .. }: &mut Field,
    struct_args: &AttrArgs,
    path: &str,
    earlier: &mut Vec<TokenStream>,
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
    let is_imported = struct_args.flag("imported")?;
    rules::refuse(
        "ALC0180",
        attr_args.get("default").or(attr_args.get(WAS)).filter(|_| is_imported).map(|attr_arg| &attr_arg.name),
        "default and earlier names of a field are for the declaration of the struct: this one is imported",
    )?;
    let name = ident.as_ref().map(text_of).unwrap_or_default();
    earlier.push(earlier_names::of(&attr_args, &format!("{path}:{name}"))?);
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
    let (value, DefaultValue { text, check }) = DefaultValue::of_specifier(attr_arg, ty)?;
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
