//! Strings of the kinds `String` and `Utf8String`. Both kinds contain UTF-8. `Utf8String` is for code that must distinguish the two kinds.

use std::borrow::Cow;

use alcedo_abi::value::TextRaw;

use super::enumeration::text_of;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use super::text_memory::{text_assign, text_copy, text_equal, text_hash, text_read};
use crate::text::quote;

/// Implements the memory operations of kinds that are stored as a [`TextRaw`].
macro_rules! text_memory {
    () => {
        fn nature(_of: &Self::Of) -> Nature {
            Nature { owns_memory: true, ..Nature::PLAIN }
        }

        fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
            text_copy(&to, from);
        }

        fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
            text_equal(one, two)
        }

        fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
            text_hash(at, hasher);
        }

        fn destroy(at: Mut<'_, Self>) {
            text_assign(&at, "");
        }

        $crate::values::by_content!();

        fn print(value: &String, _names: &Names) -> String {
            quote(value)
        }

        fn offer<'v>(value: &'v String, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
            Some(Offer::Text(Cow::Borrowed(value)))
        }
    };
}
pub(super) use text_memory;

macro_rules! texts {
    ($($kind:ident is $number:ident;)*) => {$(
        pub(crate) struct $kind;

        impl Kind for $kind {
            type Of = ();
            type Raw = TextRaw;
            const KIND: PropertyKind = PropertyKind::$number;
            const WRITTEN: Written = Written::Text(&['"']);

            text_memory!();

            fn read(at: Ref<'_, Self>) -> String {
                text_read(at)
            }

            fn write(at: Mut<'_, Self>, value: &String) {
                text_assign(&at, value);
            }

            fn from_text(text: &str, _ty: &PropertyType, _names: &Names) -> Result<String, ParseError> {
                Ok(text.to_owned())
            }

            fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<String> {
                text_of(&offer).map(Cow::into_owned)
            }
        }
    )*};
}
texts! { Text is STRING; Utf8Text is UTF8_STRING; }
