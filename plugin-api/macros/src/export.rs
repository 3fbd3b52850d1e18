//! Expands static functions that are exported by name: `#[zcall(ex = "…")]` on a free function, `#[zmethod]` in a class or in
//! the `#[zmethods]` block of a plain type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, Result, Signature};

use crate::attr_args::{AttrArgs, take_attr};
use crate::conditions::Conditions;
use crate::impl_block::{Function, ImplBlock, Member};
use crate::method::{Method, Parameter};
use crate::result::location_of;
use crate::type_names::name_self;
use crate::{docs, rules};

pub(crate) fn expand(attr_args: &AttrArgs, item: &ItemFn) -> Result<TokenStream> {
    attr_args.expect(&["ex"])?;
    let Some(name) = attr_args.text("ex")? else {
        return Err(rules::at(
            "ALC0038",
            attr_args.span,
            "the name of the function is missing: `#[zcall(ex = \"math.add\")]`",
        ));
    };
    rules::refuse(
        "ALC0039",
        (name.value().is_empty() || name.value().contains(['/', ':', ' '])).then_some(&name),
        "the name is what follows `ex:/`: not empty, without `/`, `:` or spaces",
    )?;
    let method = Method::of(&item.sig)?;
    rules::refuse(
        "ALC0040",
        (!method.is_static()).then_some(&item.sig.inputs),
        "a function called by name has neither `self` nor `this`",
    )?;
    let function = &method.name;
    let export = export(&method, &name.value(), &quote! { "" }, &quote! { #function });
    let export = Conditions::of(&item.attrs)?.on_items(export)?;
    let required = docs::required_signatures();
    Ok(quote! { #required #item #export })
}

pub(crate) fn expand_block(attr_args: &AttrArgs, mut block: ImplBlock) -> Result<TokenStream> {
    attr_args.expect(&[])?;
    let ty = crate::class_impl::class_of(&block.head)?;
    let type_path = syn::ext::IdentExt::unraw(&ty).to_string();
    let (mut exports, mut errors) = (Vec::new(), rules::Errors::default());
    let mut export_of = |function: &mut Function| -> Result<()> {
        let conditions = Conditions::of_member(&function.attrs, &["zmethod"])?;
        let Some(attr) = take_attr(&mut function.attrs, "zmethod")? else { return Ok(()) };
        AttrArgs::of(&attr)?.expect(&[])?;
        let mut signature = function.sig.clone();
        name_self(&mut signature, &ty);
        let method = static_method(&signature)?;
        let name = &method.name;
        let export = export(&method, &method.text(), &quote! { #type_path }, &quote! { #ty::#name });
        exports.push(conditions.on_items(export)?);
        Ok(())
    };
    for member in &mut block.members {
        if let Member::Function(function) = member {
            errors.take(export_of(function));
        }
    }
    errors.finish()?;
    rules::refuse(
        "ALC0041",
        exports.is_empty().then_some(&block.head.self_ty),
        "this block exports no function: write `#[zmethod]`",
    )?;
    let (required, item) = (docs::required_signatures(), block.into_item());
    Ok(quote! { #required #item #(#exports)* })
}

/// Parses the signature of a static function.
pub(crate) fn static_method(signature: &Signature) -> Result<Method> {
    let method = Method::of(signature)?;
    rules::refuse(
        "ALC0042",
        (!method.is_static()).then_some(&signature.inputs),
        "a zmethod belongs to the type, not to an object: it takes neither `self` nor `this`",
    )?;
    Ok(method)
}

/// Expands to the description and trampoline of a static function.
pub(crate) fn export(method: &Method, name: &str, type_path: &TokenStream, target: &TokenStream) -> TokenStream {
    if let Some(viewed) = method.parameters.iter().find(|parameter| parameter.is_out || parameter.is_borrowed) {
        let problem = "a function called by name receives plain values: use the type without `&mut` and `Borrowed`, and return the value";
        return rules::spanned("ALC0112", &viewed.ty, problem).to_compile_error();
    }
    let (result, returned, check) = (method.result_type(), method.result.returned_type(), method.result.check());
    let location = location_of(&method.name);
    let parameters = method.parameters.iter().map(|Parameter { ident, ty, .. }| quote! { #ident: #ty });
    quote! {
        ::alcedo_plugin_api::__private::export! {
            type_path: #type_path, name: #name,
            (#(#parameters),*) -> #result, returns: #returned, location: #location, #target
        }
        #check
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;
    use syn::parse_quote;

    use crate::impl_block::ImplBlock;

    fn expanded(function: TokenStream) -> syn::Result<TokenStream> {
        let block = quote! { impl Report { #function #[zmethod] fn count() -> u32 { 1 } } };
        super::expand_block(&parse_quote!(), ImplBlock::of(block)?)
    }

    #[test]
    fn only_an_exported_function_has_no_cfg_attr() {
        let helper = expanded(quote! { #[cfg_attr(unix, allow(dead_code))] fn helper() {} });
        assert!(helper.is_ok_and(|tokens| tokens.to_string().contains("cfg_attr")));
        for exported in [
            quote! { #[cfg_attr(unix, inline)] #[zmethod] fn render() {} },
            quote! { #[cfg_attr(unix, zmethod)] fn render() {} },
        ] {
            let error = expanded(exported).expect_err("a condition").to_string();
            assert!(error.contains("ALC0034"), "{error}");
        }
    }

    #[test]
    fn all_errors_of_a_block_are_reported_together() {
        let error = expanded(quote! { #[zmethod] fn render(&self) {} #[zmethod(once)] fn clear() {} });
        let reported = error.expect_err("two errors").into_compile_error().to_string();
        assert!(reported.contains("ALC0042") && reported.contains("ALC0087"), "{reported}");
    }

    #[test]
    fn an_exported_function_has_no_borrowed_parameter() {
        let refused = |function| expanded(function).expect("a block").to_string().contains("ALC0112");
        assert!(refused(quote! { #[zmethod] fn render(lines: Borrowed<UArray<f64>>) {} }));
        assert!(!refused(quote! { #[zmethod] fn render(lines: UArray<f64>) {} }));
    }
}
