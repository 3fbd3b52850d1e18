//! Interned names.

use std::borrow::Cow;

use super::enumeration::text_of;
use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::word;
use crate::text::print_name;

pub(crate) struct NameKind;

impl Kind for NameKind {
    type Of = ();
    type Raw = Name;
    const KIND: PropertyKind = PropertyKind::NAME;
    const WRITTEN: Written = Written::Text(&['"']);

    word!();

    fn print(value: &Name, names: &Names) -> String {
        print_name(*value, names)
    }

    fn from_text(text: &str, _ty: &PropertyType, names: &Names) -> Result<Name, ParseError> {
        Ok(names.intern(text))
    }

    fn offer<'v>(value: &'v Name, cx: &Conversion<'_>) -> Option<Offer<'v>> {
        let text = cx.names.text(*value);
        // The text of an unknown number is empty, and a conversion of the empty text would lose the number.
        (cx.names.find(&text) == Some(*value)).then(|| Offer::Text(Cow::Owned(text.to_string())))
    }

    fn accept(offer: Offer<'_>, _of: &(), cx: &Conversion<'_>) -> Option<Name> {
        text_of(&offer).map(|text| cx.names.intern(&text))
    }
}
