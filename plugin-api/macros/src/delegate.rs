//! Expands `#[udelegate]`: converts a function type into a named delegate of the host.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{Ident, Item, ItemType, Result, ReturnType, Type, TypeBareFn};

use crate::attr_args::{AttrArgs, text_of};
use crate::docs;
use crate::impl_block::AnyItem;
use crate::result::is_unit;
use crate::rules;
use crate::type_names::ungrouped;

const MOST: usize = 8;

const FORM: &str =
    "`#[udelegate]` belongs on an alias of a function type: `pub type OnScored = fn(points: i32, by: Obj<Cube>);`";

pub(crate) fn expand(attr_args: &AttrArgs, item: AnyItem) -> Result<TokenStream> {
    let item = match item.into_item() {
        Item::Type(item) => item,
        other => return Err(rules::spanned("ALC0170", other, FORM)),
    };
    let Type::BareFn(function) = ungrouped(&item.ty) else { return Err(rules::spanned("ALC0170", &item.ty, FORM)) };
    let mut errors = rules::Errors::default();
    errors.take(attr_args.expect(&["single", "multicast", "sparse", "package", "of", "imported"]));
    errors.take(refuse(&item, function));
    let kind = errors.take(kind(attr_args, &item.ident));
    let owner = errors.take(owner(attr_args, &item.ident));
    let params = errors.take(parameters(function));
    let result = result(function);
    // Skips this check for an invalid kind, because that error has already been reported.
    if let Some(kind) = kind.as_ref().filter(|kind| *kind != "Delegate") {
        let problem = format!(
            "a `{kind}` calls any number of functions, so it has no result: remove the result, or write `single`"
        );
        errors.take(rules::refuse("ALC0173", result, problem));
    }
    let (params, (kind, owner)) = errors.unless(params.zip(kind.zip(owner)))?;
    let (origin, vis, name, attrs) = (attr_args.origin()?, &item.vis, &item.ident, &item.attrs);
    let (text, doc, signature) = (text_of(name), docs::text(attrs), format_ident!("{}Signature", name));
    let signature_doc = format!("Signature of [`{name}`].");
    let result = result.map_or_else(|| quote! { () }, |result| quote! { #result });
    let params = params.iter().map(|(name, ty)| quote! { #name: #ty });
    Ok(quote! {
        #(#attrs)*
        #vis type #name =
            ::alcedo_plugin_api::__private::#kind<::alcedo_plugin_api::__private::Named<#signature>>;

        ::alcedo_plugin_api::__private::delegate! {
            #origin #kind #vis #signature #signature_doc, of: #owner, name: #text, doc: #doc,
            (#(#params),*) -> #result
        }
    })
}

/// Returns the kind of the delegate as the name of its value type.
fn kind(attr_args: &AttrArgs, name: &Ident) -> Result<Ident> {
    let known = [("single", "Delegate"), ("multicast", "MulticastDelegate"), ("sparse", "SparseDelegate")];
    let mut found_kinds = Vec::new();
    for (specifier, kind) in known {
        if attr_args.flag(specifier)? {
            found_kinds.push((specifier, kind));
        }
    }
    match found_kinds.as_slice() {
        [(_, kind)] => Ok(Ident::new(kind, Span::call_site())),
        [] => Err(rules::at(
            "ALC0171",
            name.span(),
            format!("how many functions does `{name}` call? Write `single`, `multicast` or `sparse`"),
        )),
        [(first, _), .., (last, _)] => Err(rules::at(
            "ALC0172",
            attr_args.get(last).map_or(attr_args.span, |attr_arg| attr_arg.name.span()),
            format!("`{first}` is already specified: a delegate is only one of `single`, `multicast` and `sparse`"),
        )),
    }
}

/// Expands to the owner of the delegate in the host: a package or a class.
fn owner(attr_args: &AttrArgs, name: &Ident) -> Result<TokenStream> {
    let Some(class) = attr_args.path("of")? else {
        let package = attr_args.package(name)?;
        return Ok(quote! { { package #package } });
    };
    rules::refuse(
        "ALC0174",
        attr_args.get("package").map(|attr_arg| &attr_arg.name),
        "a delegate `of` a class is in the package of the class: leave `package` out",
    )?;
    Ok(quote! { { class #class } })
}

fn parameters(function: &TypeBareFn) -> Result<Vec<(String, &Type)>> {
    let (mut errors, mut params) = (rules::Errors::default(), Vec::<(String, &Type)>::new());
    errors.take(rules::refuse(
        "ALC0178",
        function.inputs.iter().nth(MOST),
        "a delegate takes at most eight values: put some of them into a `#[ustruct]`",
    ));
    for param in &function.inputs {
        let name = param.name.as_ref().filter(|(name, _)| name != "_").map(|(name, _)| text_of(name));
        let param = match (name, ungrouped(&param.ty)) {
            (_, Type::Reference(reference)) => Err(rules::spanned(
                "ALC0176",
                reference,
                "a delegate has no out parameters: write the type without `&`",
            )),
            (None, ty) => Err(rules::spanned(
                "ALC0175",
                ty,
                "a parameter of a delegate has a name, which editors and glue show: `points: i32`",
            )),
            (Some(name), ty) if params.iter().any(|(known, _)| *known == name) => Err(rules::spanned(
                "ALC0179",
                ty,
                format!("`{name}` is the name of another parameter: rename one of them"),
            )),
            (Some(name), ty) => Ok((name, ty)),
        };
        params.extend(errors.take(param));
    }
    errors.unless(Some(params))
}

/// Returns the type of the result; `None` for `()`.
fn result(function: &TypeBareFn) -> Option<&Type> {
    match &function.output {
        ReturnType::Type(_, ty) if !is_unit(ty) => Some(ty),
        _ => None,
    }
}

/// Rejects function types that delegates do not support.
fn refuse(item: &ItemType, function: &TypeBareFn) -> Result<()> {
    const PLAIN: &str = "a delegate is bound to reflected functions: write it without this, as `fn(points: i32)`";
    let refused = |span| Err(rules::at("ALC0177", span, PLAIN));
    match (&item.generics, function) {
        (generics, _) if !generics.params.is_empty() => Err(rules::spanned("ALC0177", generics, PLAIN)),
        (_, TypeBareFn { lifetimes: Some(keyword), .. }) => refused(keyword.span()),
        (_, TypeBareFn { unsafety: Some(keyword), .. }) => refused(keyword.span()),
        (_, TypeBareFn { abi: Some(keyword), .. }) => refused(keyword.span()),
        (_, TypeBareFn { variadic: Some(keyword), .. }) => refused(keyword.span()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenStream};
    use quote::quote;

    use super::expand;
    use crate::impl_block::AnyItem;

    fn expanded(item: TokenStream) -> syn::Result<TokenStream> {
        expand(&syn::parse_quote!(multicast, package = "Game"), AnyItem::of(item)?)
    }

    #[test]
    fn delegate_types_that_a_macro_has_captured_are_recognized() {
        let captured = |ty: TokenStream| Group::new(Delimiter::None, ty);
        let [unit, reference] = [quote! { () }, quote! { &f64 }].map(captured);
        let function = captured(quote! { fn(by: f64) -> #unit });
        expanded(quote! { pub type OnHit = #function; }).unwrap_or_else(|error| panic!("{error}"));
        let error = expanded(quote! { pub type OnHit = fn(by: #reference); }).expect_err("an out parameter");
        assert!(error.to_string().contains("ALC0176"), "{error}");
    }
}
