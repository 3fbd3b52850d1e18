//! Recognizes types by their names, because the attributes see no definitions. Wrong results affect only messages and convenience.

use syn::Type;

/// Names of the integer types that the host supports.
pub(crate) const INTEGERS: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];

/// Returns true if a type has parameters, such as `Obj<C>`.
pub(crate) fn has_parameters(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| !segment.arguments.is_none()))
}

/// Returns true if the last segment of a type is `name`. Sufficient for better messages, but not for semantics.
pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == name))
}

/// Returns the type `K` of `Borrowed<K>` or `Borrowed<'_, K>`.
pub(crate) fn borrowed_type(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Borrowed")?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}
