//! Expands `#[migrate(from = "f64", with = Self::of_number)]` on a property, and with `to` on a class: an author's function converts values
//! of an earlier declaration. Each migration becomes a static function of the class, whose metadata names the property. Tools do not list
//! these functions, and only the host calls them, during a reload.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Attribute, Ident, LitStr, Path, Result, Type};

use crate::attr_args::{AttrArgs, name_of, text_of};
use crate::custom_thunk::of_class;
use crate::method::table_of_names;
use crate::result::location_of;
use crate::rules;
use crate::type_names::borrowed_type;

const NAME: &str = "migrate";

/// Attribute `migrate` of a property or a class.
pub(crate) struct Migration {
    /// Type of the parameter of the conversion function.
    from: Type,
    from_text: LitStr,
    /// Type of the result of the conversion function. `None` for a migration of a property, because the result then has the type of the
    /// property.
    to: Option<Type>,
    with: Path,
}

/// Values that a migration converts.
pub(crate) enum Of<'a> {
    /// A property. The variant contains its name and type.
    Property(&'a str, &'a Type),
    /// All objects of the class. The variant contains the package of the class.
    Objects(&'a str),
}

/// Removes the `migrate` attributes of a property or class from `attrs`, and parses them. `is_class` is true for a class.
pub(crate) fn take(attrs: &mut Vec<Attribute>, is_class: bool) -> Result<Vec<Migration>> {
    let (found, rest): (Vec<_>, Vec<_>) = std::mem::take(attrs).into_iter().partition(|attr| name_of(attr) == NAME);
    *attrs = rest;
    let mut errors = rules::Errors::default();
    let migrations: Vec<_> = found.iter().filter_map(|attr| errors.take(Migration::of(attr, is_class))).collect();
    let text = |migration: &Migration| migration.from.to_token_stream().to_string();
    for (at, migration) in migrations.iter().enumerate() {
        if migrations[..at].iter().any(|known| text(known) == text(migration)) {
            let problem = format!("`{}` is converted twice: keep one of the functions", migration.from_text.value());
            errors.take::<()>(Err(rules::at("ALC0209", migration.from_text.span(), problem)));
        }
    }
    errors.finish()?;
    Ok(migrations)
}

/// Rejects the attribute on an item whose values no reload converts.
pub(crate) fn refuse(attrs: &[Attribute], reason: &str) -> Result<()> {
    rules::refuse("ALC0211", attrs.iter().find(|attr| name_of(attr) == NAME), reason)
}

impl Migration {
    fn of(attr: &Attribute, is_class: bool) -> Result<Self> {
        let attr_args = AttrArgs::of(attr)?;
        attr_args.expect(if is_class { &["from", "to", "with"] } else { &["from", "with"] })?;
        // If `with` has a closure instead of a path, the error below shows the correct form.
        let (from_text, to, with) =
            (attr_args.text("from")?, attr_args.text("to")?, attr_args.path("with").ok().flatten());
        let (Some(from_text), Some(with), true) = (from_text, with, to.is_some() == is_class) else {
            let help = match is_class {
                true => {
                    "name structs with the earlier and the new properties, and a function: \
                         `#[migrate(from = \"DoorV1\", to = \"DoorV2\", with = Self::of_v1)]`"
                }
                false => "name the earlier type and a function: `#[migrate(from = \"f64\", with = Self::of_number)]`",
            };
            return Err(rules::spanned("ALC0207", attr, help));
        };
        Ok(Self { from: parsed(&from_text)?, from_text, to: to.as_ref().map(parsed).transpose()?, with })
    }
}

fn parsed(text: &LitStr) -> Result<Type> {
    text.parse().map_err(|_error| {
        let problem =
            format!("`{}` is not a type: write it as in Rust, such as \"f64\" or \"UArray<f64>\"", text.value());
        rules::at("ALC0208", text.span(), problem)
    })
}

/// Generated code for the migrations of a class.
#[derive(Default)]
pub(crate) struct Conversions {
    /// Cells and checks.
    items: Vec<TokenStream>,
    /// Entries of the table of names.
    names: Vec<TokenStream>,
    functions: Vec<TokenStream>,
}

impl Conversions {
    pub(crate) fn add(&mut self, class: &Ident, migrations: &[Migration], of: &Of<'_>) {
        for migration in migrations {
            self.add_one(class, migration, of);
        }
    }

    fn add_one(&mut self, class: &Ident, Migration { from, from_text, to, with }: &Migration, of: &Of<'_>) {
        let at = self.functions.len();
        let cell = format_ident!("ALCEDO_CONVERSION_{at}");
        // The generated names must differ from the names of all functions in the class, its bases and its subclasses.
        let (name, property) = match of {
            Of::Property(property, _) => (format!("alcedo_convert_{at}_{property}"), *property),
            Of::Objects(package) => (format!("alcedo_convert_{at}_{package}_{}", text_of(class)), ""),
        };
        let to = match (to, of) {
            (Some(to), _) => quote! { #to },
            (None, Of::Property(_, to)) => quote! { #to },
            // The parser has already rejected a migration of a class without `to`.
            (None, Of::Objects(_)) => return,
        };
        let (argument, value) = match borrowed_type(from) {
            Some(value) => (quote! { ::alcedo_plugin_api::__private::Red<#value> }, quote! { #value }),
            None => (quote! { #from }, quote! { #from }),
        };
        // If the argument or result type is wrong, the compiler reports the error at the location of the function.
        let last = with.segments.last().map(|segment| &segment.ident);
        let location = last.map(location_of);
        let earlier = last.map(|last| Ident::new("earlier", last.span()));
        let with = of_class(with, class);
        let check = matches!(of, Of::Property(..)).then(|| {
            let (span, from) = (from_text.span(), from_text.value());
            let differs = quote_spanned! {span=> !::alcedo_plugin_api::__private::is_same_type::<#value, #to>() };
            let problem = "is the type that the property has now: state an earlier type, or remove `#[migrate]`";
            rules::asserted("ALC0210", span, &differs, format_args!("`{from}` {problem}"))
        });
        self.items.push(quote! {
            #check
            static #cell: ::alcedo_plugin_api::__private::FunctionCell<#class, (#value,), #to> =
                ::alcedo_plugin_api::__private::FunctionCell::new();
        });
        self.names.push(quote! { (#name, &["earlier"], &[], &[#location]) });
        let at = Literal::usize_unsuffixed(at);
        let returned = quote! { ::core::result::Result<#to, ::alcedo_plugin_api::__private::CallError> };
        self.functions.push(quote! {
            ::alcedo_plugin_api::__private::static_method::<AlcedoConversions, #at, (#argument,), #to, #returned, _>(
                0,
                &#cell,
                ::alcedo_plugin_api::__private::Metadata {
                    doc: "",
                    meta: &[::alcedo_plugin_api::__private::meta(::alcedo_plugin_api::__private::CONVERTS, #property)],
                },
                |(#earlier,)| ::alcedo_plugin_api::__private::converted::<#to, _>(#with(#earlier), #location),
            )
        });
    }

    /// Expands to the items, and to the argument of the `class!` macro that lists the functions. Empty without migrations.
    pub(crate) fn expand(&self, class: &Ident) -> (TokenStream, Option<TokenStream>) {
        let Self { items, names, functions } = self;
        if functions.is_empty() {
            return Default::default();
        }
        let table = table_of_names(&format_ident!("AlcedoConversions"), class, names);
        let list = quote! {
            #table
            const ALCEDO_CONVERSIONS: &[::alcedo_plugin_api::__private::Function<#class>] = &[#(#functions),*];
        };
        (quote! { #(#items)* #list }, Some(quote! { conversions: ALCEDO_CONVERSIONS, }))
    }
}

#[cfg(test)]
mod tests {
    use syn::{Ident, parse_quote};

    use super::{Conversions, Of, take};

    #[test]
    fn a_closure_as_a_conversion_is_refused_with_the_form_of_the_attribute() {
        for (is_class, attr, form) in [
            (false, parse_quote!(#[migrate(from = "f64", with = |old| old as i32)]), "with = Self::of_number"),
            (true, parse_quote!(#[migrate(from = "Old", to = "New", with = |old| old)]), "with = Self::of_v1"),
        ] {
            let Err(error) = take(&mut vec![attr], is_class) else { panic!("the closure is accepted") };
            assert!(error.to_string().contains(form) && error.to_string().contains("ALC0207"), "{error}");
        }
    }

    #[test]
    fn a_conversion_of_a_class_named_by_a_keyword_has_no_prefix() {
        let class: Ident = parse_quote!(r#type);
        let mut attrs = vec![parse_quote!(#[migrate(from = "Old", to = "New", with = Self::of_old)])];
        let (migrations, mut conversions) = (take(&mut attrs, true).expect("a migration"), Conversions::default());
        conversions.add(&class, &migrations, &Of::Objects("Game"));
        let (items, _) = conversions.expand(&class);
        assert!(items.to_string().contains("\"alcedo_convert_0_Game_type\""), "{items}");
    }
}
