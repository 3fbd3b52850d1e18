//! Floating-point numbers. Equality compares bits.

use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;

use super::ptr::{Mut, Ref, Word};
use super::{Kind, Offer, Written, word};
use crate::convert::Conversion;
use crate::names::Names;
use crate::property::PropertyType;
use crate::text::{ParseError, fail, parsed};

macro_rules! floats {
    ($($kind:ident is $rust:ty, of a float by $narrow:expr;)*) => {$(
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
                let value: $rust = parsed(text, ty)?;
                // The text contains digits and is therefore not `inf`, so the number is too large for the type.
                if value.is_infinite() && text.contains(|letter: char| letter.is_ascii_digit()) {
                    return Err(fail(text, ty, "it is too large"));
                }
                Ok(value)
            }

            fn offer<'v>(value: &'v $rust, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
                Some(Offer::Float((*value).into()))
            }

            fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<$rust> {
                match offer {
                    // Converts back through `i128`, because `as i64` saturates and would accept 2^63 - 1 as exact.
                    Offer::Integer(value) => (value as $rust as i128 == value).then_some(value as $rust),
                    Offer::Float(value) => $narrow(value),
                    _ => None,
                }
            }
        }
    )*};
}
floats! {
    F32 is f32, of a float by narrow;
    F64 is f64, of a float by Some;
}

/// Converts a number to `f32`. Returns `None` if the conversion is not exact.
fn narrow(value: f64) -> Option<f32> {
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == value.to_bits()).then_some(narrow)
}
