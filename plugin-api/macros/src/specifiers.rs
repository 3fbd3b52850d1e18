//! Specifiers of `#[uproperty]` and `#[ufunction]` with their effects, as tables. The page `docs/specifiers.md` also contains these tables,
//! and a test compares them with the page.

use proc_macro2::TokenStream;
use syn::{Expr, ExprLit, Lit, Result};

use crate::attr_args::{AttrArgs, text_of};
use crate::earlier_names::{self, WAS};
use crate::rules;

/// Specifier and its representation in the host.
pub(crate) struct Specifier {
    pub(crate) name: &'static str,
    /// Names of the flags that the specifier sets; empty if the effect of the specifier is not a flag.
    pub(crate) flags: &'static [&'static str],
    /// Metadata key for the value of the specifier, if this value is a string.
    pub(crate) key: Option<&'static str>,
    #[cfg_attr(not(test), expect(dead_code, reason = "used by the test that compares docs/specifiers.md"))]
    pub(crate) effect: &'static str,
}

const fn flag(name: &'static str, flags: &'static [&'static str], effect: &'static str) -> Specifier {
    Specifier { name, flags, key: None, effect }
}

const fn text(name: &'static str, key: &'static str, effect: &'static str) -> Specifier {
    Specifier { name, flags: &[], key: Some(key), effect }
}

/// Specifiers of `#[uproperty(…)]`.
pub(crate) const PROPERTY: &[Specifier] = &[
    flag("edit_anywhere", &["EDIT_ANYWHERE"], "editors may change it"),
    flag("visible_anywhere", &["VISIBLE_ANYWHERE"], "editors show it and do not change it"),
    flag("blueprint_read", &["BLUEPRINT_READ"], "scripts may read it"),
    flag("blueprint_write", &["BLUEPRINT_WRITE"], "scripts may write it"),
    flag("blueprint_read_write", &["BLUEPRINT_READ", "BLUEPRINT_WRITE"], "both"),
    flag("transient", &["TRANSIENT"], "not written to disk"),
    flag("save_game", &["SAVE_GAME"], "saved in games"),
    flag("replicated", &["REPLICATED"], "its value is copied to replicas of the object on other machines"),
    flag("enum_as_byte", &["ENUM_AS_BYTE"], "scripts see its enum, whose numbers are not `u8`, as a byte"),
    flag(
        "default",
        &[],
        "`default = 1.0`: initial value; data, not code; for a `SubclassOf`, `SoftClass` or `SoftObject`, the path as a string",
    ),
    flag("default_subobject", &["DEFAULT_SUBOBJECT"], "holds an object that is created with its owner"),
    flag("root_component", &["ROOT_COMPONENT"], "the object is the root component of an actor"),
    text("category", "category", "`category = \"Light\"`: category in editors"),
    text("display_name", "display_name", "`display_name = \"How bright\"`: name in editors"),
    text("was", "was", "`was = \"weight\"`: earlier names, separated by commas, whose values it adopts"),
    flag("meta", &[], "`meta(key = \"value\")`: other metadata for editors and tools"),
];

/// Specifiers of `#[ufunction(…)]`.
pub(crate) const FUNCTION: &[Specifier] = &[
    flag("blueprint_callable", &["CALLABLE"], "scripts may call it"),
    flag("blueprint_pure", &["PURE"], "scripts may call it; it has no side effects"),
    flag(
        "blueprint_native_event",
        &["NATIVE_EVENT"],
        "subclasses may override it; without an override its `_implementation` runs",
    ),
    flag(
        "blueprint_implementable_event",
        &["IMPLEMENTABLE_EVENT"],
        "implemented by scripts only; without a script it returns the zero value",
    ),
    flag(
        "custom_thunk",
        &[],
        "`custom_thunk = Self::exec_ring`: declared without a body; this function handles each call",
    ),
    text(
        "custom_struct_param",
        "custom_struct_param",
        "`custom_struct_param = \"value\"`: parameters, separated by commas, that take any struct",
    ),
    text("array_parm", "array_parm", "`array_parm = \"target\"`: parameters that take any array"),
    text(
        "array_type_dependent_params",
        "array_type_dependent_params",
        "parameters, and `return_value`, whose type is fixed by the first known parameter or array element type",
    ),
    flag("defaults", &[], "`defaults(times = 3)`: arguments that callers with values may omit"),
    text("category", "category", "`category = \"Light\"`: category in editors"),
    text("display_name", "display_name", "`display_name = \"Switch on\"`: name in editors"),
    text("was", "was", "`was = \"hail\"`: earlier names, separated by commas, that still resolve to it"),
    flag("meta", &[], "`meta(key = \"value\")`: other metadata for editors and tools"),
];

pub(crate) fn expect(attr_args: &AttrArgs, table: &[Specifier]) -> Result<()> {
    let known: Vec<_> = table.iter().map(|specifier| specifier.name).collect();
    attr_args.expect(&known)
}

/// Parses generated source without tokens of the author. The compiler parses a string in one call, but each token of `quote!` costs a
/// call. The parser of `proc_macro2` would check the string once more.
pub(crate) fn tokens(source: &str) -> TokenStream {
    source.parse::<proc_macro::TokenStream>().expect("generated source consists of valid tokens").into()
}

/// Expands to the flags of the specifiers, as constants in `module`.
pub(crate) fn flags(attr_args: &AttrArgs, table: &[Specifier], module: &str) -> Result<String> {
    let mut terms = "0".to_owned();
    for specifier in table.iter().filter(|specifier| !specifier.flags.is_empty()) {
        if attr_args.flag(specifier.name)? {
            for flag in specifier.flags {
                terms.extend([" | ::alcedo_plugin_api::__private::", module, "::", flag]);
            }
        }
    }
    Ok(terms)
}

/// Expands to the doc comment and the metadata of the specifiers.
pub(crate) fn metadata(attr_args: Option<&AttrArgs>, table: &[Specifier], doc: &str) -> Result<String> {
    metadata_with(attr_args, table, doc, &[])
}

/// Expands to the doc comment and the metadata, including additional metadata that the kind of the declaration requires.
pub(crate) fn metadata_with(
    attr_args: Option<&AttrArgs>,
    table: &[Specifier],
    doc: &str,
    form: &[(&str, &str)],
) -> Result<String> {
    let text = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let mut entries: Vec<(String, String)> = form.iter().map(text).collect();
    if let Some(attr_args) = attr_args {
        for specifier in table {
            let Some(key) = specifier.key else { continue };
            let text = if key == WAS { earlier_names::checked(attr_args)? } else { attr_args.text(specifier.name)? };
            entries.extend(text.map(|text| (key.to_owned(), text.value())));
        }
        for (name, value) in attr_args.pairs("meta")? {
            let key = text_of(&name);
            let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else {
                return Err(rules::spanned(
                    "ALC0081",
                    value,
                    "the value of a key is a string: `meta(key = \"value\")`",
                ));
            };
            if entries.iter().any(|(known, _)| key == *known) {
                return Err(rules::at("ALC0082", name.span(), format!("`{key}` is already set by its own specifier")));
            }
            entries.push((key, text.value()));
        }
    }
    let mut metadata = format!("::alcedo_plugin_api::__private::Metadata {{ doc: {doc:?}, meta: &[");
    for (key, text) in entries {
        metadata.push_str(&format!("::alcedo_plugin_api::__private::meta({key:?}, {text:?}),"));
    }
    metadata.push_str("] }");
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use quote::quote;

    use super::{FUNCTION, PROPERTY, Specifier, metadata};
    use crate::attr_args::AttrArgs;

    fn table(title: &str, specifiers: &[Specifier]) -> String {
        let lines = specifiers.iter().map(|Specifier { name, flags, key, effect }| {
            let flags: Vec<_> = flags.iter().map(|flag| format!("`{flag}`")).collect();
            let key = key.map(|key| format!("`{key}`")).unwrap_or_default();
            format!("| `{name}` | {} | {key} | {effect} |\n", flags.join(" "))
        });
        format!(
            "## {title}\n\n| specifier | flags | metadata | effect |\n| --- | --- | --- | --- |\n{}",
            lines.collect::<String>()
        )
    }

    #[test]
    fn the_page_has_the_table_that_the_attributes_read() {
        // The page is read at run time, because a published package of this crate does not contain it.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/specifiers.md");
        let page = fs::read_to_string(path).expect("the repository contains the page");
        for (title, specifiers) in [("`#[uproperty(…)]`", PROPERTY), ("`#[ufunction(…)]`", FUNCTION)] {
            let table = table(title, specifiers);
            assert!(page.contains(&table), "docs/specifiers.md must contain:\n{table}");
        }
    }

    #[test]
    fn a_key_that_is_a_keyword_is_stored_without_its_prefix() {
        let attr_args: AttrArgs = syn::parse2(quote!(meta(r#type = "ring"))).expect("an attribute");
        let metadata = metadata(Some(&attr_args), PROPERTY, "").expect("a string");
        assert!(metadata.contains("meta(\"type\", \"ring\")"), "{metadata}");
    }

    #[test]
    fn no_specifier_is_listed_in_a_table_twice() {
        for specifiers in [PROPERTY, FUNCTION] {
            for (at, specifier) in specifiers.iter().enumerate() {
                assert!(specifiers[..at].iter().all(|earlier| earlier.name != specifier.name), "{}", specifier.name);
            }
        }
    }
}
