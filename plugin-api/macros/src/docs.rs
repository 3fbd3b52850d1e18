//! Doc comments and permitted lints of types and members. The host stores doc comments as documentation, and the generated items copy the
//! doc comments of their source.

use crate::attr_args::name_of;
use crate::type_names::ungrouped_expr;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{AttrStyle, Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta};

/// Joins the lines of a doc comment into a single string.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match ungrouped_expr(&meta.value) {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            Expr::Lit(ExprLit { lit: Lit::Verbatim(text), .. }) => Some(value(text).trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn value(text: &Literal) -> String {
    let source = text.to_string();
    match source.strip_prefix('"').and_then(|source| source.strip_suffix('"')) {
        Some(value) if !value.contains('\\') => value.to_owned(),
        _ => syn::parse_str::<LitStr>(&source).map(|text| text.value()).unwrap_or_default(),
    }
}

/// Returns the attributes that generated members copy from their source: documentation, deprecation and permitted lints. Omits `cfg`
/// attributes, which [`Conditions`](crate::conditions::Conditions) handles.
pub(crate) fn shared(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| is_shared(attr)).map(allowing).collect()
}

pub(crate) fn is_shared(attr: &Attribute) -> bool {
    ["doc", "deprecated", "allow", "expect"].contains(&name_of(attr).as_str())
}

/// Returns the lints that an item permits, as `allow` attributes for generated items that contain names of the item.
pub(crate) fn allowed(attrs: &[Attribute]) -> Vec<Attribute> {
    let allowed = attrs.iter().filter(|attr| ["allow", "expect"].contains(&name_of(attr).as_str()));
    allowed.map(|attr| Attribute { style: AttrStyle::Outer, ..allowing(attr) }).collect()
}

/// Returns an attribute that permits the author's functions to have the signatures that the rules of the macros require: owned parameters,
/// and `self` next to `this`.
pub(crate) fn required_signatures() -> TokenStream {
    quote! {
        #[allow(clippy::needless_pass_by_value, clippy::unused_self, reason = "reflected functions have such signatures")]
    }
}

/// Replaces `expect` by `allow`, because an item that the macro has changed or generated may not violate the lint.
pub(crate) fn allowing(attr: &Attribute) -> Attribute {
    let mut attr = attr.clone();
    if let Meta::List(list) = &mut attr.meta
        && list.path.is_ident("expect")
    {
        list.path = Ident::new("allow", list.path.span()).into();
    }
    attr
}
