//! Expands `was = "Old, Older"`: adds earlier names of types and members to a list of the module.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, Result};

use crate::attr_args::{AttrArgs, is_identifier, text_of};
use crate::rules;

pub(crate) const WAS: &str = "was";

/// Expands to the earlier names of a type of this module.
pub(crate) fn of_type(attr_args: &AttrArgs, package: &LitStr, name: &syn::Ident) -> Result<TokenStream> {
    let is_imported = attr_args.flag("imported")?;
    rules::refuse(
        "ALC0026",
        attr_args.get(WAS).filter(|_| is_imported).map(|attr_arg| &attr_arg.name),
        "this specifier belongs on the declaration of the type, but this type is imported",
    )?;
    of(attr_args, &path(package, name))
}

pub(crate) fn path(package: &LitStr, name: &syn::Ident) -> String {
    format!("/Script/{}.{}", package.value(), text_of(name))
}

/// Expands to the earlier names in the specifiers of the item at `path`.
pub(crate) fn of(attr_args: &AttrArgs, path: &str) -> Result<TokenStream> {
    let Some(names) = checked(attr_args)? else { return Ok(TokenStream::new()) };
    Ok(quote! { ::alcedo_plugin_api::__private::earlier_names! { #path, #names } })
}

/// Checks each name in the specifier's value, and returns the value.
pub(crate) fn checked(attr_args: &AttrArgs) -> Result<Option<LitStr>> {
    let names = attr_args.text(WAS)?;
    rules::refuse(
        "ALC0205",
        names.as_ref().filter(|names| !names.value().split(',').all(|name| is_identifier(name.trim()))),
        "earlier names are letters, digits and `_`, separated by commas, and without a path: `was = \"weight, mass\"`",
    )?;
    Ok(names)
}
