//! A kind for tests: a color of four bytes, written as `#aabbccdd`. It shows that a kind is this file and an entry in the list.

use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;

use super::ptr::{Mut, Ref, Word};
use super::{Kind, Offer, Written, word};
use crate::convert::Conversion;
use crate::names::Names;
use crate::property::PropertyType;
use crate::text::{ParseError, fail};

pub(crate) struct Toy;

impl Kind for Toy {
    type Of = ();
    type Raw = u32;
    const KIND: PropertyKind = PropertyKind(200);
    const NAME: &'static str = "Toy";
    const WRITTEN: Written = Written::Word;

    word!();

    fn print(value: &u32, _names: &Names) -> String {
        format!("#{value:08x}")
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<u32, ParseError> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 8);
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        value.ok_or_else(|| fail(text, ty, "write # and 8 hexadecimal digits"))
    }

    fn offer<'v>(value: &'v u32, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Integer((*value).into()))
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<u32> {
        if let Offer::Integer(value) = offer { value.try_into().ok() } else { None }
    }
}
