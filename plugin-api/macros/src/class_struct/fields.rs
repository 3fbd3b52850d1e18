//! Fields of a class: separates properties, kept fields and all other fields, and expands the accessors and the description of a property.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Field, Fields, Ident, Result, Type};

use crate::attr_args::{AttrArgs, cell_name, take_attr, text_of};
use crate::conditions::Conditions;
use crate::default_value::DefaultValue;
use crate::docs;
use crate::earlier_names::WAS;
use crate::migration::{self, Migration};
use crate::rules;
use crate::specifiers::{self, PROPERTY};
use crate::type_names::{INTEGERS, has_parameters, is_named};

pub(super) struct Property {
    pub(super) field: Field,
    pub(super) name: Ident,
    pub(super) attr_args: AttrArgs,
    pub(super) migrations: Vec<Migration>,
}

/// Kept field, and the specifiers of its `#[keep]`.
type Kept = (Ident, AttrArgs);

/// Removes and returns the reflected fields. Also returns the kept fields, which remain in the struct.
pub(super) fn sort_fields(fields: &mut Fields, errors: &mut rules::Errors) -> (Vec<Property>, Vec<Kept>) {
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
    pub(super) fn text(&self) -> String {
        text_of(&self.name)
    }

    /// Expands to the accessors in the syntax of the `class!` macro. `fixed` contains the parts without tokens of the author.
    pub(super) fn expand(&self, fixed: &str) -> Group {
        let (get, ty, attrs) = (&self.name, &self.field.ty, docs::shared(&self.field.attrs));
        let (argument, fixed) = (argument(ty), specifiers::tokens(&format!("{{ {fixed} }}")));
        Group::new(Delimiter::Brace, quote! { #(#attrs)* #get: #ty, #argument, #fixed })
    }

    /// Returns the names of the accessors and of the property. `at` is the position among the properties of the class.
    pub(super) fn fixed(&self, at: usize) -> String {
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
            let fits = quote_spanned! {ty.span()=> ::alcedo_plugin_api::__private::fits_a_byte::<#ty>() };
            let problem = "`enum_as_byte` is for an enum whose entries have numbers from 0 to 255";
            rules::asserted("ALC0192", ty.span(), &fits, problem)
        });
        // Number types are recognized by name, and need no check. Any other type may be an enum.
        let may_be_enum = || {
            !matches!(ty, Type::Path(path) if path.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                INTEGERS.iter().chain(&["f32", "f64", "bool", "String"]).any(|known| name == *known)
            }))
        };
        let check = (is_script_visible && may_be_enum()).then(|| {
            let have = quote_spanned! {ty.span()=> ::alcedo_plugin_api::__private::scripts_have::<#ty>(#as_byte) };
            let problem = "scripts know enums of `u8` only: give the enum `#[repr(u8)]`, or write `enum_as_byte` here";
            rules::asserted("ALC0191", ty.span(), &have, problem)
        });
        Ok(fits.into_iter().chain(check).collect())
    }

    /// Expands to the accessors and the description, with a compile-time check of the default.
    pub(super) fn declared(&self, at: usize) -> Result<(Group, TokenStream)> {
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
        let default = self.attr_args.get("default");
        rules::refuse(
            "ALC0032",
            default.filter(|_| subobject).map(|attr_arg| &attr_arg.name),
            "a subobject is made by the host and has no `default`",
        )?;
        let default = default.map(|attr_arg| DefaultValue::of_specifier(attr_arg, ty)).transpose()?;
        let (default, check) = default.map(|(_, default)| (default.text, default.check)).unwrap_or_default();
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
