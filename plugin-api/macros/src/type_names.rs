//! Recognizes types by their names, because the attributes see no definitions. Wrong results affect only messages and convenience.

use syn::{Expr, Type};

/// Names of the integer types that the host supports.
pub(crate) const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];

/// Returns a type without the invisible group that surrounds a type that a macro has captured.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    ty
}

/// Returns an expression without the invisible group that surrounds an expression that a macro has captured.
pub(crate) fn ungrouped_expr(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}

/// Returns true if a type has parameters, such as `Obj<C>`.
pub(crate) fn has_parameters(ty: &Type) -> bool {
    let is_applied = |segment: &syn::PathSegment| !segment.arguments.is_none();
    matches!(ungrouped(ty), Type::Path(path) if path.path.segments.last().is_some_and(is_applied))
}

/// Returns true if the last segment of a type is `name`. Sufficient for better messages, but not for semantics.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ungrouped(ty), Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == name))
}

/// Returns the type `K` of `Borrowed<K>` or `Borrowed<'_, K>`.
pub(crate) fn borrowed_type(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Borrowed")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}
