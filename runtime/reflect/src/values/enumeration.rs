//! Enums. Memory contains a number of the underlying type. A [`Value`] contains the name of the entry.

use std::borrow::Cow;

use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::enums::{EnumType, EnumValue, number_of, whole};

pub(crate) struct Enum;

impl Kind for Enum {
    type Of = Rc<EnumType>;
    type Raw = ();
    const KIND: PropertyKind = PropertyKind::ENUM;
    const WRITTEN: Written = Written::Path;

    #[inline]
    fn size(of: &Rc<EnumType>) -> usize {
        of.underlying().size()
    }

    #[inline]
    fn align(of: &Rc<EnumType>) -> usize {
        of.underlying().align()
    }

    #[inline]
    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        one.number().equal(two.number())
    }

    #[inline]
    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        at.number().hash_into(hasher);
    }

    fn read(at: Ref<'_, Self>) -> EnumValue {
        at.of().value(whole(&at.number().read()).unwrap_or_default())
    }

    fn fits(of: &Rc<EnumType>, ty: &PropertyType, value: &EnumValue) -> Result<(), WrongType> {
        match of.number(&value.text) {
            Some(_) => Ok(()),
            None => Err(WrongType::of(&format!("`{value}`, which is none of {},", of.names()), ty)),
        }
    }

    fn write(at: Mut<'_, Self>, value: &EnumValue) {
        let of = at.of();
        // `fits` has already checked the value.
        if let Some(number) = of.number(&value.text).and_then(|number| number_of(of.underlying_kind(), number)) {
            at.number().put(&number);
        }
    }

    fn zero(of: &Rc<EnumType>) -> EnumValue {
        of.value(0)
    }

    fn same(one: &EnumValue, two: &EnumValue) -> bool {
        one.text == two.text
    }

    fn feed(value: &EnumValue, mut hasher: &mut dyn Hasher) {
        value.text.hash(&mut hasher);
    }

    fn print(value: &EnumValue, _names: &Names) -> String {
        value.text.to_string()
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<EnumValue, ParseError> {
        let PropertyType::Enum(of) = ty else { return Err(fail(text, ty, "the type is not an enum")) };
        match of.number(text) {
            Some(number) => Ok(of.value(number)),
            None => Err(fail(text, ty, format!("write one of {}", of.names()))),
        }
    }

    fn offer<'v>(value: &'v EnumValue, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Entry(value))
    }

    fn accept(offer: Offer<'_>, of: &Rc<EnumType>, cx: &Conversion<'_>) -> Option<EnumValue> {
        let number = match offer {
            // Converts by name, because the number of the entry may differ in this enum. Only flags accept numbers without an entry.
            Offer::Entry(value) if of.is_flags => of.number(&to_current_names(&value.text, of, cx))?,
            Offer::Entry(value) => of.entry(&current_name(&value.text, of, cx))?.number,
            Offer::Text(text) => of.number(&to_current_names(&text, of, cx))?,
            Offer::Integer(number) => number,
            _ => return None,
        };
        of.has(number).then(|| of.value(number))
    }

    fn convert(value: &Value, of: &Rc<EnumType>, cx: &Conversion<'_>) -> Option<EnumValue> {
        // The value may belong to a different enum, or to an earlier version of this enum with different numbers.
        Self::accept(cx.offer(value)?, of, cx)
    }
}

/// Returns the current name of an entry. If an entry is named `name`, returns `name`. Otherwise, returns the name of the entry that was
/// renamed from `name`. If a reload has undone a rename to `name`, returns the earlier name, which is in use again.
fn current_name<'t>(name: &'t str, of: &EnumType, cx: &Conversion<'_>) -> Cow<'t, str> {
    if of.entry(name).is_some() {
        return Cow::Borrowed(name);
    }
    let mut names = cx.paths.names_of_member(&mut std::iter::once(&*of.path), name).into_iter();
    names.find(|name| of.entry(name).is_some()).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Replaces each entry name in a list with the current name of the entry. `|` separates the names.
fn to_current_names<'t>(text: &'t str, of: &EnumType, cx: &Conversion<'_>) -> Cow<'t, str> {
    let mut parts = text.split('|').map(str::trim);
    if parts.all(|part| of.entry(part).is_some()) {
        return Cow::Borrowed(text);
    }
    let names: Vec<_> = text.split('|').map(|part| current_name(part.trim(), of, cx)).collect();
    Cow::Owned(names.join(" | "))
}

/// Returns the text of a string or the name of an entry. Used by conversions to the string kinds.
pub(super) fn text_of<'v>(offer: &Offer<'v>) -> Option<Cow<'v, str>> {
    match offer {
        Offer::Text(text) => Some(text.clone()),
        Offer::Entry(value) => Some(Cow::Borrowed(&*value.text)),
        _ => None,
    }
}
