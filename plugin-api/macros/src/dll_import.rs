//! Expands `#[dll_import]` on a function of a class with `dll_bind`. The body of the function is in a C library. Parameters have Rust
//! types: `&mut T` for an out parameter of the C function, `[T; N]` for an array of a fixed length.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, FnArg, Ident, Lit, LitInt, Result, Signature, Type, parse_quote};

use crate::attr_args::AttrArgs;
use crate::docs;
use crate::function_builder;
use crate::method::{Method, Parameter};
use crate::rules;
use crate::type_names::{ungrouped, ungrouped_expr};

pub(crate) struct DllImport {
    pub(crate) method: Method,
    params: Vec<CParam>,
    attr_args: AttrArgs,
}

/// C attributes of a parameter.
struct CParam {
    written: Type,
    is_out: bool,
    len: Option<LitInt>,
}

impl DllImport {
    pub(crate) fn of(attr: &Attribute, signature: &Signature) -> Result<Self> {
        let attr_args = AttrArgs::of(attr)?;
        attr_args.expect(&["name", "no_cwd", "bool8", "bool32"])?;
        let mut signature = signature.clone();
        let mut params = Vec::new();
        for input in &mut signature.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let (param, ty) = CParam::of(&typed.ty)?;
            params.push(param);
            *typed.ty = ty;
        }
        let method = Method::of(&signature)?;
        method.needs_self(&signature, "a function of a bound class")?;
        rules::refuse(
            "ALC0145",
            method.has_this.then(|| &signature.inputs[1]),
            "a C function has no `this`: the declaration lists the parameters of the C function",
        )?;
        rules::refuse(
            "ALC0145",
            method.result.may_fail.then_some(&signature.output),
            "a C function returns no `Result`: use the plain type; a failed call returns an error from its `try_` method",
        )?;
        rules::refuse(
            "ALC0145",
            method.parameters.iter().find(|parameter| parameter.is_borrowed).map(|borrowed| &borrowed.ty),
            "C receives a copy: use the plain type, `&mut T` for an out parameter, or `[T; N]` for an array",
        )?;
        let is_bool = method.result.returned.as_ref().is_some_and(|ty| crate::type_names::is_named(ty, "bool"));
        let (bool8, bool32) = (attr_args.flag("bool8")?, attr_args.flag("bool32")?);
        rules::refuse_at(
            "ALC0148",
            ((bool8 || bool32) && !is_bool).then_some(attr_args.span),
            "`bool8` and `bool32` state how many bytes a returned `bool` fills: declare the result as `-> bool`",
        )?;
        rules::refuse_at(
            "ALC0148",
            (bool8 && bool32).then_some(attr_args.span),
            "a `bool` fills one byte or four: keep `bool8` for a C++ `bool`, `bool32` for a `uint32_t`",
        )?;
        Ok(Self { method, params, attr_args })
    }

    /// Expands to the cell, the call on the view, and compile-time checks of the types.
    pub(crate) fn expanded(&self, class: &Ident, view: &Ident, cell: &Ident, attrs: &[Attribute]) -> TokenStream {
        let Self { method, params, .. } = self;
        let (types, result, out_parameters) = (method.types(), method.result_type(), self.out_parameters());
        let (name, text, attrs) = (&method.name, method.text(), docs::shared(attrs));
        let try_name = format_ident!("try_{text}");
        let each = || method.parameters.iter().zip(params);
        let typed = each().map(|(Parameter { ident, .. }, CParam { written, .. })| quote! { #ident: #written });
        let typed: Vec<_> = typed.collect();
        let argument = each().map(|(parameter, param)| param.argument(&parameter.ident));
        let changed = each().enumerate().filter(|(_, (_, param))| param.is_out).map(|(at, (parameter, _))| {
            let (ident, back) = (&parameter.ident, format_ident!("out{at}"));
            quote! { #ident #back }
        });
        let checks = each().map(|(parameter, param)| param.check(&parameter.ty));
        let returns = method.result.returned.as_ref().map(|ty| {
            let returns = quote_spanned! {ty.span()=> ::alcedo_plugin_api::__private::c_returns::<#ty>() };
            let problem = "C cannot return this: the result is a number, `bool`, `String` or a struct";
            rules::asserted("ALC0146", ty.span(), &returns, problem)
        });
        let library = quote_spanned! {name.span()=> <#class as ::alcedo_plugin_api::__private::Class>::LIBRARY };
        let is_bound = quote_spanned! {name.span()=> !#library.is_empty() };
        let problem =
            format!("`{class}` is not bound to a library: write `#[uclass(…, dll_bind = \"Name\")]` on its struct");
        let bound = rules::asserted("ALC0143", name.span(), &is_bound, problem);
        quote! {
            static #cell: ::alcedo_plugin_api::__private::ImportCell<#class, (#(#types,)*), #result, #out_parameters> =
                ::alcedo_plugin_api::__private::ImportCell::new();
            ::alcedo_plugin_api::__private::calls! {
                #view endings: [{ #(#attrs)* #name #try_name(#(#typed),*) -> #result }], calls: []
            }
            ::alcedo_plugin_api::__private::c_call! {
                #(#attrs)*
                ///
                /// # Errors
                /// Fails if the C function has written outside a buffer. The caller's variables are then unchanged.
                #view #try_name(#(#typed = #argument),*) -> #result, out_parameters: (#(#changed),*),
                #cell,
                ::alcedo_plugin_api::__private::join!(
                    <#class as ::alcedo_plugin_api::__private::Class>::PATH, ":", #text
                )
            }
            #bound
            #(#checks)*
            #returns
        }
    }

    pub(crate) fn description(&self, class: &Ident, cell: &Ident, attrs: &[Attribute]) -> Result<TokenStream> {
        let Self { method, params, attr_args } = self;
        let (types, result, out_parameters) = (method.types(), method.result_type(), self.out_parameters());
        let of = quote! { #class, (#(#types,)*), #result, #out_parameters };
        let (no_cwd, bool8, bool32) = (attr_args.flag("no_cwd")?, attr_args.flag("bool8")?, attr_args.flag("bool32")?);
        let convention = quote! {
            ::alcedo_plugin_api::__private::CallingConvention { no_cwd: #no_cwd, bool8: #bool8, bool32: #bool32 }
        };
        let params = params.iter().map(|CParam { is_out, len, .. }| {
            let len = len.as_ref().map(LitInt::base10_digits).map(|len| {
                quote! { ::alcedo_plugin_api::__private::meta("ArrayDim", #len) }
            });
            quote! { ::alcedo_plugin_api::__private::CParam { is_out: #is_out, meta: &[#len] } }
        });
        let in_c = quote! { .in_c(&[#(#params),*]) };
        let (doc, symbol) = (docs::text(attrs), attr_args.text("name")?);
        let symbol = symbol.map(|symbol| quote! { ::alcedo_plugin_api::__private::meta("DllSymbol", #symbol) });
        let library = quote! { <#class as ::alcedo_plugin_api::__private::Class>::LIBRARY };
        let metadata = quote! {
            ::alcedo_plugin_api::__private::Metadata {
                doc: #doc,
                meta: &[::alcedo_plugin_api::__private::meta("DllBind", #library), #symbol],
            }
        };
        let builder = (&quote! { dll_import }, &of);
        Ok(function_builder::description(method, builder, Some(in_c), [convention, quote! { #cell }, metadata]))
    }

    fn out_parameters(&self) -> TokenStream {
        let each = self.method.types().zip(&self.params);
        let out_parameters = each.filter(|(_, param)| param.is_out).map(|(ty, _)| ty);
        quote! { (#(#out_parameters,)*) }
    }
}

impl CParam {
    /// Parses the type of a parameter. Also returns the type that the host uses for the parameter's values.
    fn of(written: &Type) -> Result<(Self, Type)> {
        let (is_out, inner) = match ungrouped(written) {
            Type::Reference(reference) if reference.mutability.is_some() => (true, &*reference.elem),
            other => (false, other),
        };
        let (len, ty) = match ungrouped(inner) {
            Type::Array(array) => {
                let Expr::Lit(ExprLit { lit: Lit::Int(len), .. }) = ungrouped_expr(&array.len) else {
                    return Err(rules::spanned(
                        "ALC0147",
                        &array.len,
                        "the host needs the length of the array: write a number",
                    ));
                };
                let element = &array.elem;
                (Some(len.clone()), parse_quote! { ::std::vec::Vec<#element> })
            }
            other => (None, other.clone()),
        };
        Ok((Self { written: written.clone(), is_out, len }, ty))
    }

    /// Expands to the argument that is passed to the host.
    fn argument(&self, ident: &Ident) -> TokenStream {
        let value = if self.is_out {
            quote! { ::core::clone::Clone::clone(&*#ident) }
        } else {
            quote! { #ident }
        };
        if self.len.is_some() {
            quote! { ::std::vec::Vec::from(#value) }
        } else {
            value
        }
    }

    /// Expands to a check that C functions support the type.
    fn check(&self, ty: &Type) -> TokenStream {
        let (has_len, span) = (self.len.is_some(), self.written.span());
        let accepts = quote_spanned! {span=> ::alcedo_plugin_api::__private::c_accepts::<#ty>(#has_len) };
        let problem = "C cannot read this: it takes numbers, `String`, structs, `[T; N]` of these, and `&mut` of all";
        rules::asserted("ALC0146", span, &accepts, problem)
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenStream};
    use quote::{ToTokens as _, quote};

    use super::CParam;

    #[test]
    fn c_types_that_a_macro_has_captured_are_recognized() {
        let captured = |ty: TokenStream| Group::new(Delimiter::None, ty).into_token_stream();
        let array = captured(quote! { [f32; 3] });
        for written in [captured(quote! { &mut [f32; 3] }), quote! { &mut #array }] {
            let written = syn::parse2(written).unwrap_or_else(|error| panic!("{error}"));
            let (param, ty) = CParam::of(&written).unwrap_or_else(|error| panic!("{error}"));
            assert!(param.is_out && param.len.is_some());
            assert_eq!(ty.into_token_stream().to_string(), quote! { ::std::vec::Vec<f32> }.to_string());
        }
    }
}
