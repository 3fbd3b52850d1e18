//! Expands `#[uclass]` on a struct: moves the reflected fields into the host's object, and leaves the remaining fields in the plugin part.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Field, Fields, Ident, ItemStruct, LitStr, Result, Type};

use crate::attr_args::{AttrArgs, cell_name, derived, take_attr, text_of, to_derive};
use crate::conditions::Conditions;
use crate::default_value::{self, DefaultValue};
use crate::dll_bind;
use crate::docs;
use crate::earlier_names::{self, WAS};
use crate::method_names::MethodNames;
use crate::migration::{self, Conversions, Migration, Of};
use crate::native::Side;
use crate::rules;
use crate::specifiers::{self, PROPERTY};
use crate::type_names::{INTEGERS, has_parameters, is_named, name_self_in};

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
struct Property {
    field: Field,
    name: Ident,
    attr_args: AttrArgs,
    migrations: Vec<Migration>,
}

pub(crate) fn view_of(class: &Ident) -> Ident {
    format_ident!("{class}View")
}

pub(crate) fn expand(attr_args: &AttrArgs, mut item: ItemStruct, side: Side) -> Result<TokenStream> {
    let mut errors = rules::Errors::default();
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
    let kept = plain.iter().filter_map(|field| {
        let (ident, ty) = (field.ident.as_ref()?, &field.ty);
        kept.iter().find(|(kept, _)| kept == ident)?;
        let text = text_of(ident);
        Some(quote! { (#ident, #text, #ty) })
    });
    let mut conversions = Conversions::default();
    for property in &properties {
        conversions.add(class, &property.migrations, &Of::Property(&property.text(), &property.field.ty));
    }
    conversions.add(class, &migrations, &Of::Objects(&package.value()));
    let (conversions, list) = conversions.expand(class);
    let implements = attr_args.paths("implements")?;
    let bodies = implements.iter().map(bodies_of);
    let without_bodies = implements.iter().map(|interface| without_bodies(class, interface));
    let field_names = plain.iter().filter_map(|field| field.ident.as_ref());
    let field_types = plain.iter().map(|field| &field.ty);
    let item = ItemStruct { fields: fields.clone(), ..item.clone() };
    Ok(quote! {
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
            fields: [#((#field_names, #field_types))*],
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
    let mut bodies = cell_name("BODIES_OF", &name.unwrap_or_default());
    bodies.set_span(interface.span());
    bodies
}

pub(crate) fn formatted(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

/// Expands to a check that the block with the bodies for an interface exists. The error appears at the interface in the class's list.
fn without_bodies(class: &Ident, interface: &syn::Path) -> TokenStream {
    let bodies = bodies_of(interface);
    let name = formatted(interface);
    let text = format!(
        "`{class}` implements `{name}`, but has no bodies for its functions: write `#[uclass] impl {name} for {class} {{ … }}` [ALC0102]"
    );
    quote_spanned! {interface.span()=>
        const _: () = ::core::assert!(#class::#bodies.are_there(), "{}", #text);
    }
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
    let mut entries = Vec::new();
    for (name, class) in attr_args.pairs("subobjects")? {
        let syn::Expr::Path(class) = class else {
            return Err(rules::spanned(
                "ALC0198",
                class,
                "expected the class of a subobject: `subobjects(mesh = FancyMesh)`",
            ));
        };
        let name = text_of(&name);
        entries.push(quote! { (#name, #class) });
    }
    Ok(quote! { #(#entries)* })
}

/// Expands the defaults of inherited properties and of properties in subobjects: `defaults(speed = 2.0, mesh.scale = 3.0)`.
fn defaults_of(attr_args: &AttrArgs, own: &[Property]) -> Result<TokenStream> {
    let mut entries = Vec::new();
    for (names, value) in attr_args.dotted_pairs("defaults")? {
        if let [name] = &names[..]
            && own.iter().any(|property| property.name == *name)
        {
            return Err(rules::at(
                "ALC0199",
                name.span(),
                format!("`{name}` is a property of this class: set its default there, `#[uproperty(default = …)]`"),
            ));
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
    let of_scripts = match (attr_args.flag("blueprintable")?, attr_args.flag("blueprint_type")?) {
        (true, true) => Err(rules::at(
            "ALC0027",
            attr_args.span,
            "`blueprintable` lets scripts extend the class, `blueprint_type` forbids it: specify only one of them",
        )),
        (true, false) => Ok(quote! { ::alcedo_plugin_api::__private::class_flags::BLUEPRINTABLE }),
        (false, true) => Ok(quote! { ::alcedo_plugin_api::__private::class_flags::BLUEPRINT_TYPE }),
        (false, false) => Ok(quote! { 0 }),
    }?;
    let is_abstract = attr_args.flag("abstract")?;
    rules::refuse_at(
        "ALC0190",
        (is_abstract && is_final).then_some(attr_args.span),
        "a class that is bound to a library is final, so no class could extend an abstract one: specify only one of them",
    )?;
    let is_abstract = is_abstract.then(|| quote! { | ::alcedo_plugin_api::__private::class_flags::ABSTRACT });
    let is_contextual = attr_args.flag("contextual")?.then(|| {
        quote! { | ::alcedo_plugin_api::__private::class_flags::CONTEXTUAL }
    });
    let is_lazy = attr_args.flag("lazy_rebuild")?.then(|| {
        quote! { | ::alcedo_plugin_api::__private::class_flags::LAZY_REBUILD }
    });
    let is_final = is_final.then(|| quote! { | ::alcedo_plugin_api::__private::class_flags::FINAL });
    Ok(quote! { #of_scripts #is_final #is_abstract #is_contextual #is_lazy })
}

/// Kept field, and the specifiers of its `#[keep]`.
type Kept = (Ident, AttrArgs);

/// Removes and returns the reflected fields. Also returns the kept fields, which remain in the struct.
fn sort_fields(fields: &mut Fields, errors: &mut rules::Errors) -> (Vec<Property>, Vec<Kept>) {
    let (mut properties, mut kept) = (Vec::new(), Vec::new());
    let named = match fields {
        Fields::Named(fields) => fields,
        Fields::Unit => return (properties, kept),
        Fields::Unnamed(fields) => {
            errors.take::<()>(Err(rules::spanned("ALC0028", fields, "the fields of a reflected class have names")));
            return (properties, kept);
        }
    };
    let mut plain = syn::punctuated::Punctuated::new();
    for field in std::mem::take(&mut named.named) {
        let Some(name) = field.ident.clone() else { continue };
        match errors.take(sort_field(field, name.clone())) {
            Some(Sorted::Reflected(property)) => properties.push(*property),
            Some(Sorted::Plain(field, is_kept)) => {
                kept.extend(is_kept.map(|attr_args| (name, attr_args)));
                plain.push(*field);
            }
            None => {}
        }
    }
    named.named = plain;
    (properties, kept)
}

enum Sorted {
    Reflected(Box<Property>),
    /// Field of the plugin part. A kept field has the specifiers of its `#[keep]`.
    Plain(Box<Field>, Option<AttrArgs>),
}

fn sort_field(mut field: Field, name: Ident) -> Result<Sorted> {
    Conditions::of_member(&field.attrs, &["uproperty", "keep", "migrate", "cfg"])?;
    Conditions::refuse_cfg(&field.attrs)?;
    let property = take_attr(&mut field.attrs, "uproperty")?;
    if property.is_none() {
        migration::refuse(
            &field.attrs,
            "only a property has migrations: serde converts a kept field, and other fields are built again",
        )?;
    }
    let keep = take_attr(&mut field.attrs, "keep")?;
    match (property, keep) {
        (Some(_), Some(keep)) => Err(rules::spanned(
            "ALC0029",
            keep,
            "a reflected property is stored in the object of the host and survives every reload: it needs no `#[keep]`",
        )),
        (Some(attr), None) => {
            let attr_args = AttrArgs::of(&attr)?;
            specifiers::expect(&attr_args, PROPERTY)?;
            if attr_args.flag("default_subobject")? {
                migration::refuse(
                    &field.attrs,
                    "a subobject is an object, and its class is exchanged as a whole: migrate the properties of its class",
                )?;
            }
            let migrations = migration::take(&mut field.attrs, false)?;
            Ok(Sorted::Reflected(Box::new(Property { field, name, attr_args, migrations })))
        }
        (None, keep) => {
            let attr_args = keep.as_ref().map(AttrArgs::of).transpose()?;
            attr_args.as_ref().map(|attr_args| attr_args.expect(&[WAS])).transpose()?;
            Ok(Sorted::Plain(Box::new(field), attr_args))
        }
    }
}

impl Property {
    /// Returns the name of the property in the host.
    fn text(&self) -> String {
        text_of(&self.name)
    }

    /// Expands to the accessors in the syntax of the `class!` macro. `fixed` contains the parts without tokens of the author.
    fn expand(&self, fixed: &str) -> Group {
        let (get, ty, attrs) = (&self.name, &self.field.ty, docs::shared(&self.field.attrs));
        let (argument, fixed) = (argument(ty), specifiers::tokens(&format!("{{ {fixed} }}")));
        Group::new(Delimiter::Brace, quote! { #(#attrs)* #get: #ty, #argument, #fixed })
    }

    /// Returns the names of the accessors and of the property. `at` is the position among the properties of the class.
    fn fixed(&self, at: usize) -> String {
        let text = self.text();
        format!("{} {at} set_{text} try_set_{text} value, name: {text:?}", cell_name("OF", &text))
    }

    /// Expands to a check that scripts support the property's enum. Expands to nothing for a property that is invisible to scripts.
    fn script_checks(&self) -> Result<Vec<TokenStream>> {
        let (ty, as_byte) = (&self.field.ty, self.attr_args.flag("enum_as_byte")?);
        let mut is_script_visible = false;
        for specifier in ["blueprint_read", "blueprint_write", "blueprint_read_write"] {
            is_script_visible |= self.attr_args.flag(specifier)?;
        }
        let fits = as_byte.then(|| {
            quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(
                    ::alcedo_plugin_api::__private::fits_a_byte::<#ty>(),
                    "`enum_as_byte` is for an enum whose entries have numbers from 0 to 255 [ALC0192]"
                );
            }
        });
        // Number types are recognized by name, and need no check. Any other type may be an enum.
        let may_be_enum = || {
            !matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                INTEGERS.iter().chain(&["f32", "f64", "bool", "String"]).any(|known| name == *known)
            }))
        };
        let check = (is_script_visible && may_be_enum()).then(|| {
            quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(
                    ::alcedo_plugin_api::__private::scripts_have::<#ty>(#as_byte),
                    "scripts know enums of `u8` only: give the enum `#[repr(u8)]`, or write `enum_as_byte` here [ALC0191]"
                );
            }
        });
        Ok(fits.into_iter().chain(check).collect())
    }

    /// Expands to the accessors and the description, with a compile-time check of the default.
    fn declared(&self, at: usize) -> Result<(Group, TokenStream)> {
        let ty = &self.field.ty;
        let subobject = self.attr_args.flag("default_subobject")?;
        rules::refuse_at(
            "ALC0030",
            (self.attr_args.flag("root_component")? && !subobject).then_some(self.attr_args.span),
            "only a `default_subobject` can be the `root_component`: it is made together with its owner",
        )?;
        rules::refuse(
            "ALC0031",
            (subobject && !is_named(ty, "Obj")).then_some(ty),
            "a `default_subobject` is an object: write `Obj<Class>`, the class of the subobject",
        )?;
        let (default, check) = match self.attr_args.get("default") {
            None => (String::new(), TokenStream::new()),
            Some(attr_arg) if subobject => {
                return Err(rules::at(
                    "ALC0032",
                    attr_arg.name.span(),
                    "a subobject is made by the host and has no `default`",
                ));
            }
            Some(attr_arg) => {
                let Some(value) = &attr_arg.value else {
                    return Err(rules::at(
                        "ALC0033",
                        attr_arg.name.span(),
                        "`default` takes a value: `default = 180.0`",
                    ));
                };
                let default = DefaultValue::of(value, ty)?;
                (default.text, default.check)
            }
        };
        let check = [check].into_iter().chain(self.script_checks()?).collect();
        let flags = specifiers::flags(&self.attr_args, PROPERTY, "property_flags")?;
        let metadata = specifiers::metadata(Some(&self.attr_args), PROPERTY, &docs::text(&self.field.attrs))?;
        let fixed = self.fixed(at);
        let fixed = format!("{fixed}, flags: {flags}, default: {default:?}, metadata: {metadata}");
        Ok((self.expand(&fixed), check))
    }
}

/// Expands to the type of the parameter `value` of a setter, and to the value that the setter writes. A string parameter accepts all types
/// that convert into a string. A parameter for a value in host memory accepts all types that can be assigned to the value. All other
/// parameters accept only their own type. The name of the type determines the case, which affects only convenience.
pub(crate) fn argument(ty: &Type) -> TokenStream {
    /// Names of types without parameters whose values are in host memory.
    const TEXTS: &[&str] = &["UString", "UUtf8String", "UAnsiString", "UText", "FieldPath"];
    /// Names of types with parameters whose values are copied.
    const COPIED: &[&str] = &["Obj", "Vec", "Option", "HashSet", "BTreeSet", "HashMap", "BTreeMap"];
    let is_one_of = |names: &[&str]| names.iter().any(|name| is_named(ty, name));
    if is_named(ty, "String") {
        quote! { impl ::core::convert::Into<#ty> = ::core::convert::Into::<#ty>::into(value) }
    } else if is_one_of(TEXTS) || has_parameters(ty) && !is_one_of(COPIED) {
        quote! { impl ::alcedo_plugin_api::__private::IntoHost<#ty> = value }
    } else {
        quote! { #ty = value }
    }
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
