//! Integers.

use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;

use super::ptr::{Mut, Ref, Word};
use super::{Kind, Offer, Written, word};
use crate::convert::Conversion;
use crate::names::Names;
use crate::property::PropertyType;
use crate::text::{ParseError, parsed};

macro_rules! integers {
    ($($kind:ident is $rust:ty;)*) => {$(
        pub(crate) struct $kind;

        impl Kind for $kind {
            type Of = ();
            type Raw = $rust;
            const KIND: PropertyKind = PropertyKind::$kind;
            const WRITTEN: Written = Written::Word;

            word!();

            fn print(value: &$rust, _names: &Names) -> String {
                value.to_string()
            }

            fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<$rust, ParseError> {
                parsed(text, ty)
            }

            fn offer<'v>(value: &'v $rust, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
                Some(Offer::Integer((*value).into()))
            }

            fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<$rust> {
                exactly(&offer)?.try_into().ok()
            }
        }
    )*};
}
integers! { U8 is u8; U16 is u16; U32 is u32; U64 is u64; I8 is i8; I16 is i16; I32 is i32; I64 is i64; }

/// Converts the offered content to an integer. Returns `None` if the conversion is not exact.
fn exactly(offer: &Offer<'_>) -> Option<i128> {
    match *offer {
        Offer::Integer(value) => Some(value),
        Offer::Entry(value) => Some(value.number),
        Offer::Truth(value) => Some(value.into()),
        // Compares bits, so that minus zero and NaN are rejected.
        Offer::Float(value) => ((value as i128 as f64).to_bits() == value.to_bits()).then_some(value as i128),
        _ => None,
    }
}
