//! Expands `#[uenum]`: named numbers. A plain enum remains the author's Rust enum. With `flags`, the enum becomes a bit set, and each entry
//! becomes a constant.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, ExprUnary, Fields, Ident, ItemEnum, Lit, Result, UnOp, Variant};

use crate::attr_args::{AttrArgs, take_attr, text_of, to_derive};
use crate::conditions::Conditions;
use crate::docs;
use crate::earlier_names;
use crate::rules;
use crate::type_names::INTEGERS;

struct Entry {
    ident: Ident,
    attrs: Vec<Attribute>,
    number: i128,
    display: String,
    is_hidden: bool,
    /// Specifiers of the variant's `#[umeta]`.
    args: Option<AttrArgs>,
}

pub(crate) fn expand(attr_args: &AttrArgs, mut item: ItemEnum) -> Result<TokenStream> {
    attr_args.expect(&["package", "flags", "imported", "was"])?;
    rules::refuse_generics("ALC0160", &item.generics, "a reflected enum is not generic")?;
    let (package, is_flags) = (attr_args.package(&item.ident)?, attr_args.flag("flags")?);
    let repr = underlying(&mut item)?;
    let (path, mut earlier) =
        (earlier_names::path(&package, &item.ident), vec![earlier_names::of_type(attr_args, &package, &item.ident)?]);
    let entries = entries(&mut item, &repr, is_flags)?;
    for Entry { ident, args, .. } in &entries {
        let listed = args.as_ref().map(|args| earlier_names::of(args, &format!("{path}:{}", text_of(ident))));
        earlier.extend(listed.transpose()?);
    }
    let (origin, name, text) = (attr_args.origin()?, &item.ident, text_of(&item.ident));
    let doc = docs::text(&item.attrs);
    let written = if is_flags { set_of_bits(&item, &repr, &entries) } else { plain(&item, &repr, &entries) };
    let variants = entries.iter().map(|Entry { ident, attrs, display, is_hidden, .. }| {
        let (text, doc) = (text_of(ident), docs::text(attrs));
        quote! { (#ident, #text, #display, #is_hidden, #doc) }
    });
    let listing = entries
        .iter()
        .map(|entry| format!("{} = {}", text_of(&entry.ident), entry.number))
        .collect::<Vec<_>>()
        .join(", ");
    Ok(quote! {
        #written
        ::alcedo_plugin_api::__private::enumeration! {
            #origin #name: #repr, package: #package, name: #text, doc: #doc, flags: #is_flags, words: #listing, [#(#variants)*]
        }
        #(#earlier)*
    })
}

/// Expands to the author's enum, and to conversions between variants and numbers.
fn plain(item: &ItemEnum, repr: &Ident, entries: &[Entry]) -> TokenStream {
    let name = &item.ident;
    let idents: Vec<_> = entries.iter().map(|entry| &entry.ident).collect();
    let derives = to_derive(&item.attrs, &["Clone", "Copy"]);
    quote! {
        #derives
        #[repr(#repr)]
        #item

        #[allow(deprecated, reason = "describes a deprecated entry without a use of its value")]
        const _: () = {
            impl #name {
                const fn alcedo_number(self) -> #repr {
                    self as #repr
                }

                const fn alcedo_of(number: #repr) -> ::core::option::Option<Self> {
                    match number {
                        #(known if known == Self::#idents as #repr => ::core::option::Option::Some(Self::#idents),)*
                        _ => ::core::option::Option::None,
                    }
                }
            }
        };
    }
}

/// Expands to a struct that contains the bits and replaces the author's enum.
fn set_of_bits(item: &ItemEnum, repr: &Ident, entries: &[Entry]) -> TokenStream {
    let ItemEnum { attrs, vis, ident: name, .. } = item;
    let constants = entries.iter().map(|Entry { ident, attrs, number, .. }| {
        let number = proc_macro2::Literal::i128_unsuffixed(*number);
        // `Default` is derived for the struct, whose default is the number 0.
        let attrs = attrs.iter().filter(|attr| !is_default(attr));
        quote! {
            #(#attrs)*
            pub const #ident: Self = Self(#number);
        }
    });
    let (derives, attrs) = (to_derive(attrs, &["Clone", "Copy"]), attrs.iter().map(docs::allowing));
    quote! {
        #(#attrs)*
        #derives
        #[repr(transparent)]
        #vis struct #name(#repr);

        #[allow(non_upper_case_globals, reason = "an entry has its own name")]
        impl #name {
            #(#constants)*

            /// Returns the bits as a number.
            #[must_use]
            #vis const fn bits(self) -> #repr {
                self.0
            }

            /// Creates a set from a number. Bits that belong to no entry are retained.
            #[must_use]
            #vis const fn from_bits(bits: #repr) -> Self {
                Self(bits)
            }

            /// Returns true if the set contains all bits of `other`.
            #[must_use]
            #vis const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns true if no bit is set.
            #[must_use]
            #vis const fn is_empty(self) -> bool {
                self.0 == 0
            }
        }

        const _: () = {
            impl #name {
                const fn alcedo_number(self) -> #repr {
                    self.0
                }

                const fn alcedo_of(number: #repr) -> ::core::option::Option<Self> {
                    ::core::option::Option::Some(Self(number))
                }
            }

            impl ::core::ops::BitOr for #name {
                type Output = Self;

                fn bitor(self, other: Self) -> Self {
                    Self(self.0 | other.0)
                }
            }

            impl ::core::ops::BitAnd for #name {
                type Output = Self;

                fn bitand(self, other: Self) -> Self {
                    Self(self.0 & other.0)
                }
            }

            impl ::core::ops::Sub for #name {
                type Output = Self;

                /// Removes the bits of `other` from the set.
                fn sub(self, other: Self) -> Self {
                    Self(self.0 & !other.0)
                }
            }
        };
    }
}

/// Returns the integer type of the enum, specified by the enum's `repr`.
fn underlying(item: &mut ItemEnum) -> Result<Ident> {
    let repr = take_attr(&mut item.attrs, "repr")?;
    let found = repr.as_ref().and_then(|repr| repr.parse_args::<Ident>().ok());
    match found.filter(|found| INTEGERS.iter().any(|known| found == known)) {
        Some(found) => Ok(found),
        None => Err(rules::spanned(
            "ALC0161",
            &item.ident,
            "the host stores a number of a fixed size: write `#[repr(u8)]`, or another of u8 to u64 and i8 to i64",
        )),
    }
}

fn entries(item: &mut ItemEnum, repr: &Ident, is_flags: bool) -> Result<Vec<Entry>> {
    let (mut errors, mut entries, mut next) = (rules::Errors::default(), Vec::new(), 0);
    let mut by_number = BTreeMap::new();
    for variant in &mut item.variants {
        let Some(entry) = errors.take(entry(variant, next)) else { continue };
        next = entry.number.saturating_add(1);
        errors.take(check(&entry, repr, is_flags));
        let Entry { ident, number, .. } = &entry;
        if let Some(other) = by_number.insert(*number, ident.to_string()) {
            let problem = format!("`{ident}` has the number {number} of `{other}`: each entry has its own number");
            errors.take::<()>(Err(rules::spanned("ALC0162", ident, problem)));
        }
        entries.push(entry);
    }
    errors.take(rules::refuse(
        "ALC0163",
        (!is_flags && !by_number.contains_key(&0)).then_some(&item.ident),
        "an enum has an entry with the number 0, the initial value",
    ));
    errors.finish()?;
    Ok(entries)
}

fn check(entry: &Entry, repr: &Ident, is_flags: bool) -> Result<()> {
    let Entry { ident, attrs, number, .. } = entry;
    let bits: u32 = repr.to_string()[1..].parse().unwrap_or(64);
    let range = if repr.to_string().starts_with('i') { -(1_i128 << (bits - 1))..1 << (bits - 1) } else { 0..1 << bits };
    rules::refuse(
        "ALC0164",
        (!range.contains(number)).then_some(ident),
        format_args!("{number} is not a {repr}: give the enum a larger `repr`"),
    )?;
    let is_negative = is_flags && *number < 0;
    rules::refuse("ALC0165", is_negative.then_some(ident), format_args!("{number} is negative, and flags are bits"))?;
    rules::refuse(
        "ALC0218",
        attrs.iter().find(|attr| is_flags && *number != 0 && is_default(attr)),
        format_args!(
            "`{ident}` has the number {number}, but a new set of bits is empty: move `#[default]` to an entry with the number \
             0, or remove it"
        ),
    )
}

/// Returns true for the attribute that marks an entry for `#[derive(Default)]`.
fn is_default(attr: &Attribute) -> bool {
    attr.path().is_ident("default")
}

fn entry(variant: &mut Variant, next: i128) -> Result<Entry> {
    Conditions::refuse_cfg(&variant.attrs)?;
    rules::refuse(
        "ALC0166",
        (!matches!(variant.fields, Fields::Unit)).then_some(&variant.fields),
        "an entry of a reflected enum has no fields: a `#[ustruct]` has fields",
    )?;
    let args = take_attr(&mut variant.attrs, "umeta")?;
    let args = args.as_ref().map(AttrArgs::of).transpose()?;
    let (display, is_hidden) = match &args {
        Some(attr_args) => {
            attr_args.expect(&["display_name", "hidden", "was"])?;
            (attr_args.text("display_name")?.map(|text| text.value()).unwrap_or_default(), attr_args.flag("hidden")?)
        }
        None => (String::new(), false),
    };
    let number = match &variant.discriminant {
        None => next,
        Some((_, written)) => literal(written).ok_or_else(|| {
            rules::spanned("ALC0167", written, "the number of an entry is written as a number: `Name = 3`")
        })?,
    };
    Ok(Entry { ident: variant.ident.clone(), attrs: variant.attrs.clone(), number, display, is_hidden, args })
}

/// Parses an integer such as `3`, `-3`, `0x10` or `1 << 4`.
fn literal(written: &Expr) -> Option<i128> {
    match written {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => literal(expr)?.checked_neg(),
        Expr::Paren(inner) => literal(&inner.expr),
        Expr::Group(inner) => literal(&inner.expr),
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::Shl(_)) => {
            let by = u32::try_from(literal(&binary.right)?).ok()?;
            literal(&binary.left)?.checked_shl(by)
        }
        Expr::Binary(binary) if matches!(binary.op, syn::BinOp::BitOr(_)) => {
            Some(literal(&binary.left)? | literal(&binary.right)?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    #[test]
    fn an_entry_with_a_condition_is_refused() {
        let item = parse_quote! { #[repr(u8)] enum Mood { Calm, #[cfg(unix)] Angry } };
        let error = super::expand(&parse_quote!(package = "Game"), item).expect_err("a condition");
        assert!(error.to_string().contains("ALC0035"), "{error}");
    }
}
