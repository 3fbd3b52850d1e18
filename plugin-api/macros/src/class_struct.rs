//! Expands `#[uclass]` on a struct: moves the reflected fields into the host's object, and leaves the remaining fields in the plugin part.

mod fields;

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Field, Fields, Ident, ItemStruct, LitStr, Result};

pub(crate) use self::fields::argument;
use self::fields::{Property, sort_fields};
use crate::attr_args::{AttrArgs, cell_name, derived, text_of, to_derive};
use crate::default_value;
use crate::dll_bind;
use crate::docs;
use crate::earlier_names;
use crate::method_names::MethodNames;
use crate::migration::{self, Conversions, Of};
use crate::native::Side;
use crate::rules;
use crate::type_names::{at_span, name_self_in};

const CLASS_ARGS: &[&str] = &[
    "package",
    "base",
    "blueprintable",
    "blueprint_type",
    "abstract",
    "contextual",
    "lazy_rebuild",
    "implements",
    "subobjects",
    "defaults",
    "imported",
    "dll_bind",
    "was",
];

pub(crate) fn view_of(class: &Ident) -> Ident {
    format_ident!("{class}View")
}

pub(crate) fn expand(attr_args: &AttrArgs, mut item: ItemStruct, side: Side) -> Result<TokenStream> {
    let mut errors = rules::Errors::default();
    item.attrs = item.attrs.iter().map(docs::allowing).collect();
    errors.take(refuse_migrations(attr_args, &item, side));
    let migrations = errors.take(migration::take(&mut item.attrs, true)).unwrap_or_default();
    errors.take(attr_args.expect(CLASS_ARGS));
    errors.take(rules::refuse_generics(
        "ALC0024",
        &item.generics,
        "a reflected class is not generic: the host knows it by one path and lays it out once",
    ));
    let imported = attr_args.flag("imported")?;
    let library = errors.take(dll_bind::library(attr_args)).flatten();
    let package = errors.take(attr_args.package(&item.ident));
    let mut fields = std::mem::replace(&mut item.fields, Fields::Unit);
    fields.iter_mut().for_each(|field| name_self_in(&mut field.ty, &item.ident));
    let (mut properties, kept) = sort_fields(&mut fields, &mut errors);
    let allowed = docs::allowed(&item.attrs);
    properties.iter_mut().for_each(|property| property.field.attrs.extend(allowed.iter().cloned()));
    let mut methods = MethodNames::default();
    for property in &properties {
        errors.take(methods.add_accessors("property", &property.name));
    }
    let flags =
        if imported { Some(TokenStream::new()) } else { errors.take(class_flags(attr_args, library.is_some())) };
    let declared: Vec<_> = match imported {
        true => Vec::new(),
        false => {
            let each = properties.iter().enumerate();
            each.filter_map(|(at, property)| errors.take(property.declared(at))).collect()
        }
    };
    let (subobjects, defaults) =
        (errors.take(subobjects_of(attr_args)), errors.take(defaults_of(attr_args, &properties)));
    let (package, flags) = errors.unless(package.zip(flags))?;
    if imported {
        return expand_imported(attr_args, &item, &fields, &package, &properties);
    }

    let class = &item.ident;
    let view = view_of(class);
    let base = base_of(attr_args)?;
    let base_check = attr_args.get("base").map(|_base| dll_bind::base_is_not_bound(&base));
    let library = library.map(|library| quote! { library: #library, });
    let (doc, vis) = (docs::text(&item.attrs), &item.vis);
    let (view_doc, name) = (format!("Operations on a [`{class}`]."), text_of(class));

    let (members, mut checks): (Vec<_>, Vec<_>) = declared.into_iter().unzip();
    checks.retain(|check: &TokenStream| !check.is_empty());
    let plain: Vec<&Field> = fields.iter().collect();
    let earlier = earlier_names::of_type(attr_args, &package, class)?;
    let path = earlier_names::path(&package, class);
    let earlier_kept = kept.iter().map(|(field, args)| earlier_names::of(args, &format!("{path}:{}", text_of(field))));
    let earlier_kept = earlier_kept.collect::<Result<Vec<_>>>()?;
    let send_checks = plain.iter().map(|field| {
        let ty = &field.ty;
        quote_spanned! {ty.span()=> ::alcedo_plugin_api::__private::the_finalizer_thread_drops::<#ty>(); }
    });
    let entry_of = |field: &Field| {
        let (ident, ty) = (field.ident.as_ref()?, &field.ty);
        let text = text_of(ident);
        Some(quote! { (#ident, #text, #ty) })
    };
    let is_kept = |field: &&Field| kept.iter().any(|(kept, _)| field.ident.as_ref() == Some(kept));
    let kept = plain.iter().copied().filter(is_kept).filter_map(entry_of);
    let entries = plain.iter().copied().filter_map(entry_of);
    let mut conversions = Conversions::default();
    for property in &properties {
        conversions.add(class, &property.migrations, &Of::Property(&property.text(), &property.field.ty));
    }
    conversions.add(class, &migrations, &Of::Objects(&package.value()));
    let (conversions, list) = conversions.expand(class);
    let implements = attr_args.paths("implements")?;
    let bodies = implements.iter().map(bodies_of);
    let without_bodies = implements.iter().map(|interface| without_bodies(class, interface));
    let item = ItemStruct { fields: fields.clone(), ..item.clone() };
    Ok(quote! {
        #[allow(clippy::use_self, reason = "`Self` is replaced in the types of fields")]
        #item
        const _: () = {
            #(#checks)*
            #(#send_checks)*
            #base_check
        };
        ::alcedo_plugin_api::__private::class! {
            declared #vis #class #view #view_doc, base: #base,
            package: #package, name: #name, flags: #flags, #library doc: #doc,
            properties: [#(#members)*],
            kept: [#(#kept)*],
            fields: [#(#entries)*],
            implements: [#((#implements, #bodies))*],
            subobjects: [#subobjects],
            defaults: [#defaults],
            #list
            checks: { #conversions #(#without_bodies)* },
        }
        #earlier
        #(#earlier_kept)*
    })
}

/// Rejects migrations on imported and native classes, because no reload of this module changes such a class.
fn refuse_migrations(attr_args: &AttrArgs, item: &ItemStruct, side: Side) -> Result<()> {
    let reason = match (side, attr_args.flag("imported")?) {
        (Side::Host, _) => "no reload changes a class of the host: only a class of a plugin has migrations",
        (Side::Plugin, true) => "migrations belong on the declaration of the class, but this class is imported",
        (Side::Plugin, false) => return Ok(()),
    };
    let attrs = std::iter::once(&item.attrs).chain(item.fields.iter().map(|field| &field.attrs));
    attrs.into_iter().try_for_each(|attrs| migration::refuse(attrs, reason))
}

/// Returns the name of the class constant that contains the bodies for an interface.
pub(crate) fn bodies_of(interface: &syn::Path) -> Ident {
    let name = interface.segments.last().map(|segment| text_of(&segment.ident));
    at_span(cell_name("BODIES_OF", &name.unwrap_or_default()), interface.span())
}

pub(crate) fn formatted(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

/// Expands to a check that the block with the bodies for an interface exists. The error appears at the interface in the class's list.
fn without_bodies(class: &Ident, interface: &syn::Path) -> TokenStream {
    let bodies = bodies_of(interface);
    let name = formatted(interface);
    let are_there = quote_spanned! {interface.span()=> #class::#bodies.are_there() };
    let problem = format!(
        "`{class}` implements `{name}`, but has no bodies for its functions: write `#[uclass] impl {name} for {class} {{ … }}`"
    );
    rules::asserted("ALC0102", interface.span(), &are_there, problem)
}

fn expand_imported(
    attr_args: &AttrArgs,
    item: &ItemStruct,
    fields: &Fields,
    package: &LitStr,
    properties: &[Property],
) -> Result<TokenStream> {
    rules::refuse(
        "ALC0025",
        fields.iter().next(),
        "an imported class has reflected properties only: its plugin part is elsewhere",
    )?;
    for flag in CLASS_ARGS.iter().filter(|flag| !["package", "base", "imported"].contains(flag)) {
        rules::refuse(
            "ALC0026",
            attr_args.get(flag).map(|attr_arg| &attr_arg.name),
            "this specifier belongs on the declaration of the class",
        )?;
    }
    let default = derived(&item.attrs).into_iter().find(|(_, name)| name == "Default");
    rules::refuse(
        "ALC0214",
        default.map(|(path, _)| path),
        "`Default` cannot be derived, because this module has no values of an imported class: remove `Default`",
    )?;
    let class = &item.ident;
    let view = view_of(class);
    let base = base_of(attr_args)?;
    let (attrs, vis, name) = (&item.attrs, &item.vis, text_of(class));
    let derives = to_derive(attrs, &["Debug"]);
    let view_doc = format!("Operations on a [`{class}`].");
    let mut members = Vec::new();
    for (at, property) in properties.iter().enumerate() {
        property.attr_args.expect(&[])?;
        members.push(property.expand(&property.fixed(at)));
    }
    Ok(quote! {
        #(#attrs)*
        #derives
        #vis enum #class {}
        ::alcedo_plugin_api::__private::class! {
            imported #vis #class #view #view_doc, base: #base,
            package: #package, name: #name,
            properties: [#(#members)*],
        }
    })
}

/// Expands the specifier that replaces the classes of inherited subobjects: `subobjects(mesh = FancyMesh)`.
fn subobjects_of(attr_args: &AttrArgs) -> Result<TokenStream> {
    let entry = |(name, class): (Ident, syn::Expr)| {
        let problem = "expected the class of a subobject: `subobjects(mesh = FancyMesh)`";
        let syn::Expr::Path(class) = class else { return Err(rules::spanned("ALC0198", class, problem)) };
        let name = text_of(&name);
        Ok(quote! { (#name, #class) })
    };
    attr_args.pairs("subobjects")?.into_iter().map(entry).collect()
}

/// Expands the defaults of inherited properties and of properties in subobjects: `defaults(speed = 2.0, mesh.scale = 3.0)`.
fn defaults_of(attr_args: &AttrArgs, own: &[Property]) -> Result<TokenStream> {
    let mut entries = Vec::new();
    for (names, value) in attr_args.dotted_pairs("defaults")? {
        if let [name] = &names[..] {
            rules::refuse(
                "ALC0199",
                own.iter().any(|property| property.name == *name).then_some(name),
                format_args!(
                    "`{name}` is a property of this class: set its default there, `#[uproperty(default = …)]`"
                ),
            )?;
        }
        let (path, text) = (names.iter().map(text_of).collect::<Vec<_>>().join("."), default_value::untyped(&value)?);
        entries.push(quote! { (#path, #text) });
    }
    Ok(quote! { #(#entries)* })
}

fn base_of(attr_args: &AttrArgs) -> Result<TokenStream> {
    Ok(match attr_args.path("base")? {
        Some(path) => quote! { #path },
        None => quote! { ::alcedo_plugin_api::Object },
    })
}

fn class_flags(attr_args: &AttrArgs, is_final: bool) -> Result<TokenStream> {
    rules::refuse_at(
        "ALC0027",
        (attr_args.flag("blueprintable")? && attr_args.flag("blueprint_type")?).then_some(attr_args.span),
        "`blueprintable` lets scripts extend the class, `blueprint_type` forbids it: specify only one of them",
    )?;
    rules::refuse_at(
        "ALC0190",
        (attr_args.flag("abstract")? && is_final).then_some(attr_args.span),
        "a class that is bound to a library is final, so no class could extend an abstract one: specify only one of them",
    )?;
    let mut flags: Vec<_> = is_final.then(|| format_ident!("FINAL")).into_iter().collect();
    for name in ["blueprintable", "blueprint_type", "abstract", "contextual", "lazy_rebuild"] {
        if attr_args.flag(name)? {
            flags.push(format_ident!("{}", name.to_uppercase()));
        }
    }
    Ok(quote! { 0 #(| ::alcedo_plugin_api::__private::class_flags::#flags)* })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use crate::native::Side;

    #[test]
    fn an_imported_class_derives_only_what_an_empty_enum_can_have() {
        let expanded = |item| super::expand(&parse_quote!(imported, package = "Engine"), item, Side::Plugin);
        let once =
            expanded(parse_quote! { #[derive(Clone, Debug)] struct Cat {} }).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(once.to_string().matches("Debug").count(), 1, "{once}");
        let error = expanded(parse_quote! { #[derive(Default)] struct Cat {} }).expect_err("a default");
        assert!(error.to_string().contains("ALC0214"), "{error}");
    }

    #[test]
    fn two_interfaces_of_one_name_are_refused() {
        for (attr_args, is_refused) in [
            (parse_quote!(package = "Game", implements(a::Heeds, b::Heeds)), true),
            (parse_quote!(package = "Game", implements(Heeds, HEEDS)), false),
            (parse_quote!(package = "Game", implements(a::Heeds, b::Sings)), false),
        ] {
            let expanded = super::expand(&attr_args, parse_quote! { struct Cat {} }, Side::Plugin);
            let error = expanded.err().map(|error| error.to_string());
            assert_eq!(error.as_deref().is_some_and(|error| error.contains("ALC0093")), is_refused, "{error:?}");
        }
    }
}
