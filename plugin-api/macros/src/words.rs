//! The words inside an attribute: `name`, `name = value` or `name(Type, …)`, separated by commas. Unknown words are refused where
//! they stand, with the known ones listed.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Path, Result, Token, parenthesized, token};

/// One word.
pub(crate) struct Word {
    /// The word itself.
    pub(crate) name: Ident,
    /// What follows its equals sign.
    pub(crate) value: Option<Expr>,
    /// What stands in its parentheses.
    list: Option<Vec<Entry>>,
}

/// What stands in the parentheses of a word: `Type` or `key = value`.
struct Entry {
    path: Path,
    value: Option<Expr>,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let path = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { path, value })
    }
}

/// The words of one attribute, in order.
pub(crate) struct Words {
    span: Span,
    words: Vec<Word>,
}

impl Parse for Word {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.call(syn::ext::IdentExt::parse_any)?;
        if input.peek(token::Paren) {
            let inside;
            parenthesized!(inside in input);
            let list = Punctuated::<Entry, Token![,]>::parse_terminated(&inside)?;
            return Ok(Self { name, value: None, list: Some(list.into_iter().collect()) });
        }
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { name, value, list: None })
    }
}

impl Parse for Words {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let words = Punctuated::<Word, Token![,]>::parse_terminated(input)?;
        Ok(Self { span, words: words.into_iter().collect() })
    }
}

impl Words {
    /// The words of an attribute, which may have no parentheses at all.
    pub(crate) fn of(attr: &Attribute) -> Result<Self> {
        match &attr.meta {
            Meta::Path(path) => Ok(Self { span: path.span(), words: Vec::new() }),
            Meta::List(list) => list.parse_args(),
            Meta::NameValue(value) => Err(syn::Error::new_spanned(value, "words go into parentheses here")),
        }
    }

    /// Where the words stand.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// Refuses words that are not known here, and words said twice.
    pub(crate) fn expect(&self, known: &[&str]) -> Result<()> {
        for (at, word) in self.words.iter().enumerate() {
            if !known.iter().any(|known| word.name == known) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join("`, `") };
                return Err(syn::Error::new(
                    word.name.span(),
                    format!("unknown word `{}`: known here are `{known}`", word.name),
                ));
            }
            if self.words[..at].iter().any(|earlier| earlier.name == word.name) {
                return Err(syn::Error::new(word.name.span(), format!("`{}` is said twice", word.name)));
            }
        }
        Ok(())
    }

    /// The word, if it is said.
    pub(crate) fn get(&self, name: &str) -> Option<&Word> {
        self.words.iter().find(|word| word.name == name)
    }

    /// Whether the word is said; it takes no value.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(Word { value: None, list: None, .. }) => Ok(true),
            Some(Word { value: Some(value), .. }) => {
                Err(syn::Error::new_spanned(value, format!("`{name}` takes no value")))
            }
            Some(word) => Err(syn::Error::new(word.name.span(), format!("`{name}` takes no parentheses"))),
        }
    }

    /// Where the type is declared: here, or elsewhere with `imported`.
    pub(crate) fn origin(&self) -> Result<Ident> {
        let origin = if self.flag("imported")? { "imported" } else { "declared" };
        Ok(Ident::new(origin, Span::call_site()))
    }

    /// The path after `name =`.
    pub(crate) fn path(&self, name: &str) -> Result<Option<Path>> {
        match self.get(name) {
            None => Ok(None),
            Some(Word { value: Some(Expr::Path(path)), .. }) => Ok(Some(path.path.clone())),
            Some(word) => Err(syn::Error::new(word.name.span(), format!("`{name}` takes a path: `{name} = Type`"))),
        }
    }

    /// The paths in the parentheses of `name(…)`, each once; none where the word is not said.
    pub(crate) fn paths(&self, name: &str) -> Result<Vec<Path>> {
        let Some(word) = self.get(name) else { return Ok(Vec::new()) };
        let Some(entries) = word.list.as_deref().filter(|entries| !entries.is_empty()) else {
            return Err(syn::Error::new(word.name.span(), format!("`{name}` lists types: `{name}(Type, Other)`")));
        };
        if let Some(value) = entries.iter().find_map(|entry| entry.value.as_ref()) {
            return Err(syn::Error::new_spanned(value, format!("`{name}` lists types: `{name}(Type, Other)`")));
        }
        let paths: Vec<_> = entries.iter().map(|entry| entry.path.clone()).collect();
        match paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path)) {
            Some((_, again)) => Err(syn::Error::new_spanned(again, format!("`{name}` lists this twice"))),
            None => Ok(paths),
        }
    }

    /// The names and values in the parentheses of `name(…)`, each name once; none where the word is not said.
    pub(crate) fn pairs(&self, name: &str) -> Result<Vec<(Ident, Expr)>> {
        let Some(word) = self.get(name) else { return Ok(Vec::new()) };
        let Some(entries) = word.list.as_deref().filter(|entries| !entries.is_empty()) else {
            return Err(syn::Error::new(word.name.span(), format!("`{name}` lists values: `{name}(key = value)`")));
        };
        let mut pairs: Vec<(Ident, Expr)> = Vec::new();
        for Entry { path, value } in entries {
            let (Some(key), Some(value)) = (path.get_ident(), value) else {
                return Err(syn::Error::new_spanned(path, format!("`{name}` lists values: `{name}(key = value)`")));
            };
            if pairs.iter().any(|(known, _)| known == key) {
                return Err(syn::Error::new(key.span(), format!("`{name}` gives `{key}` twice")));
            }
            pairs.push((key.clone(), value.clone()));
        }
        Ok(pairs)
    }

    /// The text after `name =`.
    pub(crate) fn text(&self, name: &str) -> Result<Option<LitStr>> {
        match self.get(name) {
            None => Ok(None),
            Some(Word { value: Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })), .. }) => Ok(Some(text.clone())),
            Some(word) => Err(syn::Error::new(word.name.span(), format!("`{name}` takes a text: `{name} = \"…\"`"))),
        }
    }

    /// The package, which every type needs.
    pub(crate) fn package(&self, type_name: &Ident) -> Result<LitStr> {
        let Some(package) = self.text("package")? else {
            return Err(syn::Error::new(
                type_name.span(),
                format!("`{type_name}` belongs to no package: say `package = \"…\"`, one that the host declares"),
            ));
        };
        if !is_identifier(&package.value()) {
            return Err(syn::Error::new(
                package.span(),
                "a package is named by letters, digits and `_`, without `/Script/`",
            ));
        }
        Ok(package)
    }
}

/// Whether a text is a name as the host's paths have them.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Takes the attribute of that name out of a list, refusing a second one.
pub(crate) fn take_attr(attrs: &mut Vec<Attribute>, name: &str) -> Result<Option<Attribute>> {
    let mut found = None;
    let mut rest = Vec::with_capacity(attrs.len());
    for attr in attrs.drain(..) {
        if !attr.path().is_ident(name) {
            rest.push(attr);
        } else if found.replace(attr.clone()).is_some() {
            return Err(syn::Error::new_spanned(attr, format!("`#[{name}]` is said twice")));
        }
    }
    *attrs = rest;
    Ok(found)
}
