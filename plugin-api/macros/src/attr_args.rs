//! Specifiers inside an attribute: `name`, `name = value` or `name(Type, …)`, separated by commas. Unknown specifiers are
//! rejected at their location, with a list of the known specifiers.

use crate::rules;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Result, Token, parenthesized, token};

pub(crate) struct AttrArg {
    pub(crate) name: Ident,
    /// `name` as a string, stored because each comparison of an identifier would first convert the identifier to a string.
    text: String,
    pub(crate) value: Option<Expr>,
    /// Entries in the parentheses after the name.
    list: Option<Vec<Entry>>,
}

/// Entry in the parentheses of a specifier: `Type` or `key = value`.
struct Entry {
    path: Path,
    /// Names after the first name, separated by dots: `scale` in `mesh.scale`.
    inside: Vec<Ident>,
    value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (path, mut inside) = (input.parse()?, Vec::new());
        while input.parse::<Option<Token![.]>>()?.is_some() {
            inside.push(input.parse()?);
        }
        Ok(Self { path, inside, value: value_after_equals(input)? })
    }
}

pub(crate) struct AttrArgs {
    pub(crate) span: Span,
    args: Vec<AttrArg>,
}

impl Parse for AttrArg {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.call(syn::ext::IdentExt::parse_any)?;
        let text = name.to_string();
        if input.peek(token::Paren) {
            let inside;
            parenthesized!(inside in input);
            let list = Punctuated::<Entry, Token![,]>::parse_terminated(&inside)?;
            return Ok(Self { name, text, value: None, list: Some(list.into_iter().collect()) });
        }
        Ok(Self { name, text, value: value_after_equals(input)?, list: None })
    }
}

fn value_after_equals(input: ParseStream<'_>) -> Result<Option<Expr>> {
    if input.parse::<Option<Token![=]>>()?.is_none() {
        return Ok(None);
    }
    let mut value: Expr = input.parse()?;
    // Removes the invisible group that surrounds a value that a macro has captured.
    while let Expr::Group(group) = value {
        value = *group.expr;
    }
    Ok(Some(value))
}

impl Parse for AttrArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let args = Punctuated::<AttrArg, Token![,]>::parse_terminated(input)?;
        Ok(Self { span, args: args.into_iter().collect() })
    }
}

impl AttrArgs {
    /// Parses the specifiers of an attribute. The attribute may have no parentheses.
    pub(crate) fn of(attr: &Attribute) -> Result<Self> {
        match &attr.meta {
            Meta::Path(path) => Ok(Self { span: path.span(), args: Vec::new() }),
            Meta::List(list) => list.parse_args(),
            Meta::NameValue(value) => Err(rules::spanned("ALC0086", value, "put the specifiers into parentheses")),
        }
    }

    /// Rejects unknown and duplicate specifiers.
    pub(crate) fn expect(&self, known: &[&str]) -> Result<()> {
        let mut errors = rules::Errors::default();
        for (at, arg) in self.args.iter().enumerate() {
            if !known.contains(&arg.text.as_str()) {
                let problem = match known {
                    [] => format!("unknown specifier `{}`: no specifiers are allowed here", arg.name),
                    _ => format!("unknown specifier `{}`: expected one of `{}`", arg.name, known.join("`, `")),
                };
                errors.take::<()>(Err(rules::at("ALC0087", arg.name.span(), problem)));
            }
            if self.args[..at].iter().any(|earlier| earlier.text == arg.text) {
                let problem = format!("`{}` is specified twice", arg.name);
                errors.take::<()>(Err(rules::at("ALC0088", arg.name.span(), problem)));
            }
        }
        errors.finish()
    }

    /// Rejects unknown and duplicate specifiers on the `impl` block of a type.
    pub(crate) fn expect_on_impl(&self, known: &[&str]) -> Result<()> {
        rules::refuse_at(
            "ALC0087",
            self.get("package").map(|arg| arg.name.span()),
            "`package` belongs on the declaration of the type: remove it here",
        )?;
        self.expect(known)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&AttrArg> {
        self.args.iter().find(|arg| arg.text == name)
    }

    /// Returns true if the specifier is present. Rejects a specifier with a value.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(AttrArg { value: None, list: None, .. }) => Ok(true),
            Some(AttrArg { value: Some(value), .. }) => {
                Err(rules::spanned("ALC0089", value, format!("`{name}` takes no value")))
            }
            Some(arg) => Err(rules::at("ALC0090", arg.name.span(), format!("`{name}` takes no parentheses"))),
        }
    }

    /// Returns `imported` or `declared`, depending on the specifier `imported`.
    pub(crate) fn origin(&self) -> Result<Ident> {
        let origin = if self.flag("imported")? { "imported" } else { "declared" };
        Ok(Ident::new(origin, Span::call_site()))
    }

    pub(crate) fn path(&self, name: &str) -> Result<Option<Path>> {
        match self.get(name) {
            None => Ok(None),
            Some(AttrArg { value: Some(Expr::Path(path)), .. }) if path.qself.is_none() => Ok(Some(path.path.clone())),
            Some(arg) => Err(rules::at("ALC0091", arg.name.span(), format!("`{name}` takes a path: `{name} = Type`"))),
        }
    }

    /// Returns the entries in the parentheses of `name(…)`. Empty without this specifier. Rejects a specifier without entries.
    fn entries(&self, name: &str, refused: impl Fn(&Ident) -> Error) -> Result<&[Entry]> {
        let Some(arg) = self.get(name) else { return Ok(&[]) };
        arg.list.as_deref().filter(|entries| !entries.is_empty()).ok_or_else(|| refused(&arg.name))
    }

    /// Returns the paths in the parentheses of `name(…)`, and rejects two paths to types of one name. Empty without this specifier.
    pub(crate) fn paths(&self, name: &str) -> Result<Vec<Path>> {
        let refused =
            |at: &dyn ToTokens| rules::spanned("ALC0092", at, format!("`{name}` lists types: `{name}(Type, Other)`"));
        let entries = self.entries(name, |at| refused(at))?;
        if let Some(value) = entries.iter().find_map(|entry| entry.value.as_ref()) {
            return Err(refused(value));
        }
        if let Some(inside) = entries.iter().find_map(|entry| entry.inside.first()) {
            return Err(refused(inside));
        }
        let paths: Vec<_> = entries.iter().map(|entry| entry.path.clone()).collect();
        let names: Vec<_> = paths.iter().map(|path| path.segments.last().map(|last| last.ident.clone())).collect();
        let second = (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
        rules::refuse(
            "ALC0093",
            second.map(|at| &paths[at]),
            format!("`{name}` lists two types of this name: remove one, or import it under another name"),
        )?;
        Ok(paths)
    }

    /// Returns the names and values in the parentheses of `name(…)`, and rejects duplicate names. Empty without this specifier.
    pub(crate) fn pairs(&self, name: &str) -> Result<Vec<(Ident, Expr)>> {
        let mut pairs = Vec::new();
        for (names, value) in self.dotted_pairs(name)? {
            match &names[..] {
                [key] => pairs.push((key.clone(), value)),
                names => return Err(no_pair(name, names.last())),
            }
        }
        Ok(pairs)
    }

    /// Returns the names and values like [`Self::pairs`]. A name may have several parts, such as `mesh.scale = 2.0`.
    pub(crate) fn dotted_pairs(&self, name: &str) -> Result<Vec<(Vec<Ident>, Expr)>> {
        let entries = self.entries(name, |at| no_pair(name, at))?;
        let mut pairs: Vec<(Vec<Ident>, Expr)> = Vec::new();
        for Entry { path, inside, value } in entries {
            let (Some(key), Some(value)) = (path.get_ident(), value) else {
                return Err(no_pair(name, path));
            };
            let names: Vec<_> = std::iter::once(key).chain(inside).cloned().collect();
            if pairs.iter().any(|(known, _)| *known == names) {
                let path = names.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
                return Err(rules::at("ALC0095", key.span(), format!("`{name}` sets `{path}` twice")));
            }
            pairs.push((names, value.clone()));
        }
        Ok(pairs)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<LitStr>> {
        match self.get(name) {
            None => Ok(None),
            Some(AttrArg { value: Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })), .. }) => Ok(Some(text.clone())),
            Some(arg) => {
                Err(rules::at("ALC0096", arg.name.span(), format!("`{name}` takes a string: `{name} = \"…\"`")))
            }
        }
    }

    /// Returns the value of the specifier `package`. Rejects a type without this specifier.
    pub(crate) fn package(&self, type_name: &Ident) -> Result<LitStr> {
        let Some(package) = self.text("package")? else {
            return Err(rules::at(
                "ALC0097",
                type_name.span(),
                format!("`{type_name}` has no package: write `package = \"…\"`, a package that the host declares"),
            ));
        };
        rules::refuse(
            "ALC0098",
            (!is_identifier(&package.value())).then_some(&package),
            "a package is named by letters, digits and `_`, without `/Script/`",
        )?;
        Ok(package)
    }
}

fn no_pair(name: &str, at: impl ToTokens) -> Error {
    rules::spanned("ALC0094", at, format!("`{name}` lists values: `{name}(key = value)`"))
}

/// Returns true if the host accepts `text` as a name in paths. Equals `is_identifier` of `alcedo-abi`, on which this crate does not depend.
pub(crate) fn is_identifier(text: &str) -> bool {
    const LONGEST: usize = 255;
    !text.is_empty()
        && text.len() <= LONGEST
        && !text.starts_with(char::is_numeric)
        && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Returns the name of a generated static or constant for a function, a property, an event or an interface. The returned name contains the
/// positions of the uppercase letters of `name`, so that names that differ only in case have different statics and constants.
pub(crate) fn cell_name(kind: &str, name: &str) -> Ident {
    let upper = name.char_indices().filter(|(_, letter)| letter.is_uppercase());
    let marks: String = upper.map(|(at, _)| format!("{at}_")).collect();
    format_ident!("ALCEDO_{marks}{kind}_{}", name.to_uppercase())
}

/// Removes the attribute `name` from a list and returns it. Rejects a second attribute `name`.
pub(crate) fn take_attr(attrs: &mut Vec<Attribute>, name: &str) -> Result<Option<Attribute>> {
    take_attrs(attrs, [name]).map(|[found]| found)
}

/// Removes the attributes `names` from a list and returns them. Rejects duplicate attributes.
pub(crate) fn take_attrs<const N: usize>(
    attrs: &mut Vec<Attribute>,
    names: [&str; N],
) -> Result<[Option<Attribute>; N]> {
    let mut found = [const { None }; N];
    for attr in std::mem::take(attrs) {
        let name = name_of(&attr);
        let Some(at) = names.iter().position(|known| *known == name) else {
            attrs.push(attr);
            continue;
        };
        let second = found[at].as_ref().map(|_| &attr);
        rules::refuse("ALC0099", second, format_args!("`#[{name}]` is specified twice"))?;
        found[at] = Some(attr);
    }
    Ok(found)
}

/// Returns the name of an attribute, or an empty string if its path names another crate. A caller compares this string with all names
/// that it handles, because each comparison of an identifier would first convert the identifier to a string.
pub(crate) fn name_of(attr: &Attribute) -> String {
    let segments = &attr.path().segments;
    let is_own = segments.len() == 1 || segments.len() == 2 && segments[0].ident == "alcedo_plugin_api";
    segments.last().filter(|_| is_own).map(|last| last.ident.to_string()).unwrap_or_default()
}

/// Returns the traits that the item's author has derived below the attribute, each with its name.
pub(crate) fn derived(attrs: &[Attribute]) -> Vec<(Path, String)> {
    let mut derived = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        // Errors in the attribute are ignored here, because the compiler reports them.
        let _checked = attr.parse_nested_meta(|meta| {
            let name = meta.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            derived.push((meta.path, name));
            Ok(())
        });
    }
    derived
}

/// Expands to a `derive` of the traits, without the traits that the item's author has derived below the attribute. The traits have their
/// full paths, because their names may have another meaning in the author's module.
pub(crate) fn to_derive(attrs: &[Attribute], traits: &[&str]) -> TokenStream {
    let derived = derived(attrs);
    let is_missing = |name: &&&str| !derived.iter().any(|(_, known)| known == **name);
    let path = |name: &&str| match *name {
        "Clone" => quote! { ::core::clone::Clone },
        "Copy" => quote! { ::core::marker::Copy },
        "Debug" => quote! { ::core::fmt::Debug },
        other => unreachable!("the full path of `{other}` is unknown"),
    };
    let missing: Vec<_> = traits.iter().filter(is_missing).map(path).collect();
    if missing.is_empty() {
        TokenStream::new()
    } else {
        quote! { #[derive(#(#missing),*)] }
    }
}

/// Returns a name in the form that the host stores, without `r#`.
pub(crate) fn text_of(name: &Ident) -> String {
    let text = name.to_string();
    match text.strip_prefix("r#") {
        Some(text) => text.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;
    use syn::parse_quote;

    use super::{AttrArgs, cell_name, is_identifier, to_derive};
    use crate::impl_block::{AnyItem, ImplBlock};
    use crate::native::Side;
    use crate::{class_impl, export, interface_impl, struct_impl};

    #[test]
    fn derived_traits_do_not_depend_on_the_names_in_scope() {
        let derived = to_derive(&[], &["Clone", "Copy"]);
        let expected = quote! { #[derive(::core::clone::Clone, ::core::marker::Copy)] };
        assert_eq!(derived.to_string(), expected.to_string());
        let derived = to_derive(&[parse_quote!(#[derive(Clone)])], &["Clone", "Debug"]);
        assert_eq!(derived.to_string(), quote! { #[derive(::core::fmt::Debug)] }.to_string());
        let derived = to_derive(&[parse_quote!(#[derive(Clone, Debug)])], &["Clone", "Debug"]);
        assert!(derived.is_empty(), "{derived}");
    }

    #[test]
    fn an_unknown_specifier_is_refused_with_a_fix() {
        for (attr_args, known, expected) in [
            (
                quote!(caption = "x"),
                &["label", "was"][..],
                "unknown specifier `caption`: expected one of `label`, `was` [ALC0087]",
            ),
            (quote!(label), &[][..], "unknown specifier `label`: no specifiers are allowed here [ALC0087]"),
        ] {
            let attr_args: AttrArgs = syn::parse2(attr_args).expect("specifiers");
            assert_eq!(attr_args.expect(known).expect_err("an unknown specifier").to_string(), expected);
        }
    }

    #[test]
    fn a_path_through_a_type_is_refused_as_a_whole() {
        for path in [quote!(<Self>::exec), quote!(<Actor as Model>::Base)] {
            let attr_args: AttrArgs = syn::parse2(quote!(base = #path)).expect("a specifier");
            let error = attr_args.path("base").expect_err("a path without its type names something else").to_string();
            assert_eq!(error, "`base` takes a path: `base = Type` [ALC0091]");
        }
    }

    #[test]
    fn a_package_on_the_impl_block_of_a_type_is_refused_with_a_fix() {
        let attr_args: AttrArgs = parse_quote!(package = "Game");
        let block = || ImplBlock::of(quote! { impl Oven {} }).expect("a block");
        for refused in [
            class_impl::expand(&attr_args, block(), Side::Plugin),
            interface_impl::expand(&attr_args, &parse_quote!(Heeds), block(), Side::Plugin),
            struct_impl::expand(&attr_args, AnyItem::Impl(block()), Side::Plugin),
        ] {
            let fix = "`package` belongs on the declaration of the type: remove it here [ALC0087]";
            assert_eq!(refused.expect_err("a package").to_string(), fix);
        }
        // `#[zmethods]` has no declaration of a type.
        let refused = export::expand_block(&attr_args, block()).expect_err("a package").to_string();
        assert_eq!(refused, "unknown specifier `package`: no specifiers are allowed here [ALC0087]");
    }

    #[test]
    fn names_of_the_host_have_letters_of_any_script() {
        for name in ["Game", "_1", "Größe", "重量", "É2"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1st", "٣", "/Script/Game", "a b", "a.b", "a-b", &"x".repeat(256)] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn names_that_differ_only_in_case_have_different_cells() {
        assert_eq!(cell_name("OF", "hit_all").to_string(), "ALCEDO_OF_HIT_ALL");
        let cells = ["beep", "Beep", "beeP", "BEEP"].map(|name| cell_name("OF", name).to_string());
        assert!(cells.iter().enumerate().all(|(at, cell)| !cells[..at].contains(cell)), "{cells:?}");
    }
}
