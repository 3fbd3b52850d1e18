//! Strings of ISO 8859-1 characters. Each character is stored as one byte.

use std::borrow::Cow;

use alcedo_abi::value::TextRaw;

use super::enumeration::text_of;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use super::text::text_memory;
use super::text_memory::{ansi_assign, ansi_read, text_assign, text_copy, text_equal, text_hash};
use crate::text::quote;
use crate::value::is_latin_1;

pub(crate) struct AnsiText;

impl Kind for AnsiText {
    type Of = ();
    type Raw = TextRaw;
    const KIND: PropertyKind = PropertyKind::ANSI_STRING;
    const WRITTEN: Written = Written::Text(&['"']);

    text_memory!();

    fn read(at: Ref<'_, Self>) -> String {
        ansi_read(at)
    }

    fn fits(_of: &(), ty: &PropertyType, value: &String) -> Result<(), WrongType> {
        if is_latin_1(value) { Ok(()) } else { Err(WrongType::of("text with letters beyond ISO 8859-1", ty)) }
    }

    fn write(at: Mut<'_, Self>, value: &String) {
        ansi_assign(&at, value);
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<String, ParseError> {
        if is_latin_1(text) { Ok(text.to_owned()) } else { Err(fail(text, ty, "it has letters beyond ISO 8859-1")) }
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<String> {
        text_of(&offer).filter(|text| is_latin_1(text)).map(Cow::into_owned)
    }
}
