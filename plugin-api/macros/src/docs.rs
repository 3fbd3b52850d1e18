//! Doc comments: they become the host's documentation of a type or member, and stay on what the compiler sees.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The doc comment as one text.
pub(crate) fn text(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The attributes that generated members share with what they stand for. Conditions are put on separately.
pub(crate) fn shared(attrs: &[Attribute]) -> Vec<Attribute> {
    let shared = ["doc", "deprecated"];
    attrs.iter().filter(|attr| shared.iter().any(|name| attr.path().is_ident(name))).cloned().collect()
}
