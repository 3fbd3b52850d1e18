//! Expands `#[ustruct(pod)]`, a struct of plain values that is passed by value, and `#[ustruct]` in a host, a struct that is
//! copied field by field.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, ItemStruct, LitStr, Result};

use crate::attr_args::{AttrArgs, derived, text_of, to_derive};
use crate::conditions::Conditions;
use crate::rules;
use crate::type_names::name_self_in;
use crate::{docs, earlier_names, struct_field};

pub(crate) fn expand(attr_args: &AttrArgs, item: ItemStruct) -> Result<TokenStream> {
    const ONE_WITH_A_BASE: &str = "remove `pod`, or declare a field of the other struct";
    let derives = to_derive(&item.attrs, &["Clone", "Copy"]);
    declared(attr_args, item, ONE_WITH_A_BASE, &quote! { pod }, &quote! { #[repr(C)] #derives })
}

pub(crate) fn of_the_host(attr_args: &AttrArgs, item: ItemStruct) -> Result<TokenStream> {
    if attr_args.flag("pod")? {
        return expand(attr_args, item);
    }
    const ONE_WITH_A_BASE: &str = "declare a field of the other struct, or use `NativeStruct`";
    declared(attr_args, item, ONE_WITH_A_BASE, &quote! { structure }, &TokenStream::new())
}

fn declared(
    attr_args: &AttrArgs,
    mut item: ItemStruct,
    one_with_a_base: &str,
    pattern: &TokenStream,
    attrs: &TokenStream,
) -> Result<TokenStream> {
    attr_args.expect(&["pod", "package", "imported", "base", "was"])?;
    rules::refuse(
        "ALC0182",
        attr_args.get("base").map(|base| &base.name),
        format_args!("a struct that is passed by value cannot extend another: {one_with_a_base}"),
    )?;
    let package = read(attr_args, &item)?;
    let name = item.ident.clone();
    item.fields.iter_mut().for_each(|field| name_self_in(&mut field.ty, &name));
    let path = earlier_names::path(&package, &item.ident);
    let mut earlier = vec![earlier_names::of_type(attr_args, &package, &item.ident)?];
    let (mut errors, mut fields, mut defaults) = (rules::Errors::default(), Vec::new(), Vec::new());
    for field in &mut item.fields {
        let Some(ident) = field.ident.clone() else { continue };
        errors.take(Conditions::refuse_cfg(&field.attrs));
        let Some(default) = errors.take(struct_field::take(field, attr_args, &path, &mut earlier)) else { continue };
        let (text, ty, doc) = (text_of(&ident), &field.ty, docs::text(&field.attrs));
        let default_text = default.as_ref().map_or("", |default| &default.text);
        fields.push(quote! { (#ident, #text, #ty, #default_text, #doc) });
        defaults.push((ident, default));
    }
    let (name, default) = (&item.ident, struct_field::default_of(&item.ident, &defaults));
    let second = derived(&item.attrs).into_iter().find(|(_, name)| default.is_some() && name == "Default");
    errors.take(rules::refuse(
        "ALC0214",
        second.map(|(path, _)| path),
        "`Default` cannot be derived, because a field has a default: remove it; the attribute implements `Default` with the \
         defaults of the fields",
    ));
    errors.finish()?;
    let (origin, text, doc) = (attr_args.origin()?, text_of(name), docs::text(&item.attrs));
    let checks = defaults.iter().filter_map(|(_, default)| default.as_ref()).map(|default| &default.check);
    Ok(quote! {
        #attrs
        #item
        #default
        const _: () = { #(#checks)* };
        ::alcedo_plugin_api::__private::#pattern! {
            #origin #name, package: #package, name: #text, doc: #doc, [#(#fields),*]
        }
        #(#earlier)*
    })
}

pub(crate) fn read(attr_args: &AttrArgs, item: &ItemStruct) -> Result<LitStr> {
    rules::refuse_generics("ALC0078", &item.generics, "a reflected struct is not generic")?;
    let Fields::Named(fields) = &item.fields else {
        return Err(rules::spanned("ALC0079", &item.ident, "a reflected struct has fields with names"));
    };
    let empty = fields.named.is_empty().then_some(&item.ident);
    rules::refuse("ALC0080", empty, "a reflected struct has at least one field")?;
    attr_args.package(&item.ident)
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    #[test]
    fn a_struct_with_a_default_derives_no_default() {
        let item = parse_quote! { #[derive(Debug, Default)] struct Spot { #[uproperty(default = 1.0)] x: f64 } };
        let error = super::expand(&parse_quote!(pod, package = "Game"), item).expect_err("two defaults");
        assert!(error.to_string().contains("ALC0214"), "{error}");
        let item = parse_quote! { #[derive(Debug, Default)] struct Spot { x: f64 } };
        assert!(super::expand(&parse_quote!(pod, package = "Game"), item).is_ok());
    }

    #[test]
    fn self_in_the_type_of_a_field_is_the_struct() {
        let item = parse_quote! { struct Spot { size: Fixed<{ Self::DIGITS }> } };
        let expanded = super::expand(&parse_quote!(pod, package = "Game"), item);
        let expanded = expanded.unwrap_or_else(|error| panic!("{error}")).to_string();
        // The expansion repeats the type outside of the struct.
        assert!(!expanded.contains("Self"), "{expanded}");
    }

    #[test]
    fn a_field_with_a_condition_is_refused() {
        let item = parse_quote! { struct Spot { x: f64, #[cfg(unix)] y: f64 } };
        let error = super::expand(&parse_quote!(pod, package = "Game"), item).expect_err("a condition");
        assert!(error.to_string().contains("ALC0035"), "{error}");
    }
}
