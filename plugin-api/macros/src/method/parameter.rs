//! Parameters of a method: parses a parameter, and expands to its types, patterns and arguments.

use proc_macro2::{Punct, Spacing, TokenStream};
use quote::{ToTokens, TokenStreamExt as _, format_ident, quote};
use syn::{Ident, Pat, PatType, Result, Type};

use super::GENERIC;
use crate::attr_args::text_of;
use crate::conditions::Conditions;
use crate::rules;
use crate::type_names::{borrowed_type, is_named, ungrouped};

pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    /// Name of the parameter in the host.
    pub(crate) text: String,
    /// Type of the parameter in the host.
    pub(crate) ty: Type,
    /// True for `Borrowed<Type>`: the method views the value in place.
    pub(crate) is_borrowed: bool,
    /// True for an out parameter: `&mut Type`.
    pub(crate) is_out: bool,
}

impl Parameter {
    /// Expands to the type that trampolines read from a parameter block.
    pub(crate) fn parameter_type(&self) -> ParameterType<'_> {
        if self.is_borrowed { ParameterType::Red(&self.ty) } else { self.declared() }
    }

    /// Expands to the type of the parameter in function cells.
    pub(crate) fn declared(&self) -> ParameterType<'_> {
        if self.is_out { ParameterType::Out(&self.ty) } else { ParameterType::Plain(&self.ty) }
    }
}

/// Type of a parameter. Writes its tokens directly, because each nested token stream costs calls of the compiler.
pub(crate) enum ParameterType<'a> {
    Plain(&'a Type),
    Out(&'a Type),
    Red(&'a Type),
}

impl ToTokens for ParameterType<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Plain(ty) => ty.to_tokens(tokens),
            Self::Out(ty) => tokens.extend(quote! { ::alcedo_plugin_api::__private::Out<'static, #ty> }),
            Self::Red(ty) => tokens.extend(quote! { ::alcedo_plugin_api::__private::Red<#ty> }),
        }
    }
}

/// Pattern or argument for a parameter: the name of the parameter, with further tokens before the name for an out parameter.
pub(super) struct Named<'a>(pub(super) &'a Parameter, pub(super) fn() -> TokenStream);

impl ToTokens for Named<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self(Parameter { ident, is_out, .. }, before) = self;
        if *is_out {
            tokens.extend(before());
        }
        ident.to_tokens(tokens);
    }
}

/// Parameter of a function on a view.
pub(super) struct Typed<'a>(pub(super) &'a Parameter);

impl ToTokens for Typed<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Parameter { ident, ty, is_borrowed, is_out, .. } = self.0;
        ident.to_tokens(tokens);
        tokens.append(Punct::new(':', Spacing::Alone));
        match (is_out, is_borrowed) {
            (true, _) => tokens.extend(quote! { &mut #ty }),
            (false, true) => tokens.extend(quote! { impl ::alcedo_plugin_api::__private::IntoHost<#ty> }),
            (false, false) => ty.to_tokens(tokens),
        }
    }
}

/// Value that a function on a view passes for a parameter.
pub(super) struct Argument<'a>(pub(super) &'a Parameter);

impl ToTokens for Argument<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Parameter { ident, ty, is_borrowed, is_out, .. } = self.0;
        match (is_out, is_borrowed) {
            (true, _) => tokens.extend(quote! { ::alcedo_plugin_api::__private::Out::to(#ident) }),
            (false, true) => tokens.extend(quote! { ::alcedo_plugin_api::__private::Passed::<#ty, _>::new(#ident) }),
            (false, false) => ident.to_tokens(tokens),
        }
    }
}

/// Parses a parameter that follows `self` and `this`.
pub(super) fn parameter(at: usize, typed: &PatType) -> Result<Parameter> {
    Conditions::refuse_cfg(&typed.attrs)?;
    let is_this = is_named(&typed.ty, "This");
    rules::refuse("ALC0059", is_this.then_some(typed), "`this` is the first parameter after `self`")?;
    let (ty, is_out) = match ungrouped(&typed.ty) {
        Type::Reference(reference) if is_named(&reference.elem, "This") => {
            return Err(rules::spanned(
                "ALC0060",
                reference,
                "the object of a call is passed by value: write `this: This<Self>`, without `&`",
            ));
        }
        Type::Reference(syn::TypeReference { mutability: Some(_), elem, .. }) => (&**elem, true),
        Type::Reference(reference) => {
            return Err(rules::spanned(
                "ALC0060",
                reference,
                "values are passed by copy: use `String` for a string, `Borrowed<UArray<…>>` for a value used in place, the plain \
                 type without `&`, or `&mut` for an out parameter",
            ));
        }
        ty => (ty, false),
    };
    rules::refuse("ALC0068", matches!(ungrouped(ty), Type::ImplTrait(_)).then_some(ty), GENERIC)?;
    rules::refuse(
        "ALC0111",
        (is_out && borrowed_type(ty).is_some()).then_some(ty),
        "out parameters are copied: use `&mut UArray<…>`, without `Borrowed`",
    )?;
    let Pat::Ident(pat) = &*typed.pat else {
        return Err(rules::spanned("ALC0061", &typed.pat, "a reflected parameter has a plain name"));
    };
    let text = text_of(&pat.ident);
    let text = text.trim_start_matches('_').to_owned();
    Ok(Parameter {
        ident: format_ident!("arg{at}", span = pat.ident.span()),
        text: if text.is_empty() { format!("arg{at}") } else { text },
        is_borrowed: borrowed_type(ty).is_some(),
        is_out,
        ty: borrowed_type(ty).unwrap_or_else(|| ty.clone()),
    })
}

#[cfg(test)]
mod tests {
    use syn::{Signature, parse_quote};

    use crate::method::Method;

    #[test]
    fn a_reference_to_this_is_refused_with_the_type_of_this() {
        let signatures: [Signature; 2] =
            [parse_quote! { fn f(&self, this: &This<Self>) }, parse_quote! { fn f(this: &mut This<'_, Self>) -> Self }];
        for signature in signatures {
            let Err(error) = Method::of(&signature) else { panic!("the reference is accepted") };
            assert!(error.to_string().contains("write `this: This<Self>`"), "{error}");
        }
    }
}
