//! Recognizes types by their names, because the attributes see no definitions. Wrong results affect only messages and convenience. Also
//! replaces `Self` in types.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parse;
use syn::{Expr, FnArg, GenericArgument, Ident, PathArguments, ReturnType, Signature, Type};

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

/// Replaces `Self` by the name of the class in the types of a signature, because the expansion repeats these types outside of the block.
pub(crate) fn name_self(signature: &mut Signature, class: &Ident) {
    for input in &mut signature.inputs {
        if let FnArg::Typed(typed) = input {
            name_self_in(&mut typed.ty, class);
        }
    }
    if let ReturnType::Type(_, ty) = &mut signature.output {
        name_self_in(ty, class);
    }
}

/// Replaces `Self` by the name of the class in a type.
pub(crate) fn name_self_in(ty: &mut Type, class: &Ident) {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            for segment in &mut path.path.segments {
                if segment.ident == "Self" {
                    segment.ident = at_span(class.clone(), segment.ident.span());
                }
                if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                    for argument in &mut arguments.args {
                        match argument {
                            GenericArgument::Type(ty) => name_self_in(ty, class),
                            GenericArgument::Lifetime(_) => {}
                            other => name_self_in_tokens(other, class),
                        }
                    }
                }
            }
        }
        Type::Reference(reference) => name_self_in(&mut reference.elem, class),
        Type::Group(group) => name_self_in(&mut group.elem, class),
        other => name_self_in_tokens(other, class),
    }
}

/// Replaces `Self` by the name of the class in `form`, a rare kind of type. Converts `form` to tokens, and parses the changed tokens.
fn name_self_in_tokens<T: Parse + ToTokens>(form: &mut T, class: &Ident) {
    let named = |replaced: &Ident| at_span(class.clone(), replaced.span()).into_token_stream();
    if let Ok(named) = syn::parse2(replaced(form.to_token_stream(), "Self", &named)) {
        *form = named;
    }
}

/// Replaces each identifier `name` in the tokens by the tokens that `by` returns.
pub(crate) fn replaced(tokens: TokenStream, name: &str, by: &dyn Fn(&Ident) -> TokenStream) -> TokenStream {
    let other = |token: TokenTree| match token {
        TokenTree::Ident(ident) if ident == name => by(&ident),
        TokenTree::Group(group) => {
            let mut other = Group::new(group.delimiter(), replaced(group.stream(), name, by));
            other.set_span(group.span());
            TokenTree::from(other).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(other).collect()
}

/// Returns the identifier with another span.
pub(crate) fn at_span(mut ident: Ident, span: Span) -> Ident {
    ident.set_span(span);
    ident
}

/// Returns the type `K` of `Borrowed<K>` or `Borrowed<'_, K>`.
pub(crate) fn borrowed_type(ty: &Type) -> Option<Type> {
    type_arguments(ty, "Borrowed")?.next().cloned()
}

/// Returns the type arguments of a type with this name.
pub(crate) fn type_arguments<'a>(ty: &'a Type, name: &str) -> Option<impl Iterator<Item = &'a Type>> {
    let Type::Path(path) = ungrouped(ty) else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    Some(arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }))
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::{Signature, Type, parse_quote};

    use super::{name_self, name_self_in};

    #[test]
    fn self_is_replaced_in_each_type_of_a_signature() {
        let mut signature: Signature = parse_quote! {
            fn meet(&mut self, this: This<Self>, all: UArray<Obj<Self>>, then: Delegate<fn(Obj<Self>)>, by: &mut Self) -> (Self, u8)
        };
        name_self(&mut signature, &parse_quote!(Cat));
        let expected: Signature = parse_quote! {
            fn meet(&mut self, this: This<Cat>, all: UArray<Obj<Cat>>, then: Delegate<fn(Obj<Cat>)>, by: &mut Cat) -> (Cat, u8)
        };
        assert_eq!(signature.to_token_stream().to_string(), expected.to_token_stream().to_string());
    }

    #[test]
    fn self_is_replaced_in_the_constants_of_a_type() {
        let mut ty: Type = parse_quote! { Buffer<'static, u8, { Self::SIZE }> };
        name_self_in(&mut ty, &parse_quote!(Cat));
        let expected: Type = parse_quote!(Buffer<'static, u8, { Cat::SIZE }>);
        assert_eq!(ty.to_token_stream().to_string(), expected.to_token_stream().to_string());
    }
}
