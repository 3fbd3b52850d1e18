//! Expands `#[ustruct]` without `pod`: a struct in host memory that plugin code accesses in place.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Field, ItemStruct, Result};

use crate::attr_args::{AttrArgs, derived, text_of};
use crate::class_struct::{argument, formatted, view_of};
use crate::conditions::Conditions;
use crate::method_names::MethodNames;
use crate::rules;
use crate::type_names::name_self_in;
use crate::{docs, earlier_names, pod, struct_field};

/// Traits whose derives read all fields of a struct.
const OF_FIELDS: [&str; 11] =
    ["Clone", "Copy", "Debug", "Default", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash", "Serialize", "Deserialize"];

/// Methods of `Borrowed` without parameters, with a result that a field could also have. A call of an accessor with one of these names
/// would silently call the method. For an imported struct, whose fields have the names of the host, `docs/mistakes.md` describes the call.
const METHODS_OF_BORROWED: [&str; 2] = ["is_black", "is_expired"];

pub(crate) fn expand(attr_args: &AttrArgs, item: &ItemStruct) -> Result<TokenStream> {
    let mut errors = rules::Errors::default();
    for (path, name) in derived(&item.attrs) {
        let problem = format!(
            "`{name}` cannot be derived, because the fields are in host memory: remove it; a struct without `pod` implements \
             `Clone`, `Debug`, `Default` and `PartialEq` itself"
        );
        errors.take(rules::refuse("ALC0214", OF_FIELDS.contains(&name.as_str()).then_some(path), problem));
    }
    attr_args.expect(&["pod", "package", "imported", "base", "was"])?;
    let package = pod::read(attr_args, item)?;
    let (name, vis, view) = (&item.ident, &item.vis, view_of(&item.ident));
    let (mut fields, mut checks) = (Vec::new(), Vec::new());
    let (path, mut earlier) =
        (earlier_names::path(&package, name), vec![earlier_names::of_type(attr_args, &package, name)?]);
    let (base, mut methods) = (attr_args.path("base")?, MethodNames::default());
    let base_check = base.as_ref().map(|base| {
        let is_struct = quote_spanned! {base.span()=> ::alcedo_plugin_api::__private::is_struct::<#base>() };
        let problem = "a struct extends a struct: specify one after `base =`";
        rules::asserted("ALC0183", base.span(), &is_struct, problem)
    });
    if let Some(base) = &base {
        let accessors = ["set_base", "try_set_base"].map(str::to_owned);
        methods.add(("field", &format_ident!("base")), accessors, &Conditions::default())?;
        let ty: syn::Type = syn::parse_quote! { #base };
        let (arg, base_doc) = (argument(&ty), format!("Part of the base struct, [`{}`].", formatted(base)));
        fields.push(quote! {
            { #[doc = #base_doc] base set_base try_set_base: #ty, value: #arg, name: "base", default: "", doc: "", is_base: true }
        });
    }
    for mut field in item.fields.iter().cloned() {
        errors.take(Conditions::refuse(&field.attrs));
        name_self_in(&mut field.ty, name);
        let Some(default) = errors.take(struct_field::take(&mut field, attr_args, &path, &mut earlier)) else {
            continue;
        };
        let Field { mut attrs, ident: Some(ident), ty, .. } = field else { continue };
        let (ident, ty) = (&ident, &ty);
        let doc = docs::text(&attrs);
        let default = default.map_or_else(String::new, |default| {
            checks.push(default.check);
            default.text
        });
        let text = text_of(ident);
        let is_named_base = base.is_some() && text == "base";
        errors.take(rules::refuse(
            "ALC0181",
            is_named_base.then_some(ident),
            "a struct that extends another has no field `base`: its view uses this name for the base struct",
        ));
        if !is_named_base {
            errors.take(methods.add_accessors("field", ident));
        }
        let is_hidden = METHODS_OF_BORROWED.contains(&text.as_str()) && attr_args.get("imported").is_none();
        errors.take(rules::refuse(
            "ALC0217",
            is_hidden.then_some(ident),
            format!(
                "`value.{text}()` calls the method `{text}` of `Borrowed` instead of the accessor: rename the field, and write \
                 `#[uproperty(was = \"{text}\")]` to keep saved values"
            ),
        ));
        let (set, try_set) = (format_ident!("set_{text}"), format_ident!("try_set_{text}"));
        let reason = "the field is declared with this name";
        let quiet = attr_args.flag("imported")?.then(|| quote! { #[allow(non_snake_case, reason = #reason)] });
        attrs.extend(docs::allowed(&item.attrs));
        let (attrs, arg) = (docs::shared(&attrs), argument(ty));
        fields.push(quote! { { #quiet #(#attrs)* #ident #set #try_set: #ty, value: #arg, name: #text, default: #default, doc: #doc, is_base: false } });
    }
    errors.finish()?;
    let (origin, text, doc) = (attr_args.origin()?, text_of(name), docs::text(&item.attrs));
    let (attrs, view_doc) =
        (item.attrs.iter().map(docs::allowing), format!("View of the fields of a [`{name}`] in place."));
    Ok(quote! {
        const _: () = { #(#checks)* #base_check };
        ::alcedo_plugin_api::__private::structure! {
            #origin #(#attrs)* #vis #name #view #view_doc, package: #package, name: #text, doc: #doc, [#(#fields)*]
        }
        #(#earlier)*
    })
}

#[cfg(test)]
mod tests {
    use quote::format_ident;
    use syn::{ItemStruct, parse_quote};

    fn error(item: &ItemStruct) -> Option<String> {
        super::expand(&parse_quote!(package = "Game"), item).err().map(|error| error.to_string())
    }

    #[test]
    fn self_in_the_type_of_a_field_is_the_struct() {
        let item = parse_quote! { struct Words { then: Delegate<fn(Self)> } };
        let expanded = super::expand(&parse_quote!(package = "Game"), &item).unwrap_or_else(|error| panic!("{error}"));
        // The expansion repeats the type in an implementation of the view.
        assert!(!expanded.to_string().contains("Self"), "{expanded}");
    }

    #[test]
    fn an_accessor_that_a_method_hides_is_refused() {
        for name in ["is_expired", "is_black"] {
            let ident = format_ident!("{name}");
            let item = parse_quote! { struct Pass { #ident: bool } };
            let fix =
                format!("rename the field, and write `#[uproperty(was = \"{name}\")]` to keep saved values [ALC0217]");
            assert!(error(&item).is_some_and(|error| error.contains(&fix)));
            let imported = super::expand(&parse_quote!(imported, package = "Game"), &item);
            imported.unwrap_or_else(|error| panic!("the host has this field: {error}"));
        }
    }

    #[test]
    fn all_errors_of_a_struct_are_reported_together() {
        let item = parse_quote! { #[derive(Hash)] struct Spot { #[keep] x: f64, #[cfg(unix)] y: f64 } };
        let error = super::expand(&parse_quote!(package = "Game"), &item).expect_err("three errors");
        let reported = error.into_compile_error().to_string();
        for id in ["ALC0214", "ALC0085", "ALC0035"] {
            assert!(reported.contains(id), "{id}: {reported}");
        }
    }

    #[test]
    fn only_derives_that_read_fields_are_refused() {
        let refused = error(&parse_quote! { #[derive(Marked, std::hash::Hash)] struct Words { text: UString } });
        assert!(refused.is_some_and(|error| error.contains("`Hash` cannot be derived") && error.contains("ALC0214")));
        assert_eq!(error(&parse_quote! { #[derive(Marked)] struct Words { text: UString } }), None);
    }
}
