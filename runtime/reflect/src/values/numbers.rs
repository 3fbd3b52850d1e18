//! Integers and floating-point numbers. Equality compares bits.

use std::fmt::Display;
use std::str::FromStr;

use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::word;
use crate::text::parsed;

macro_rules! numbers {
    ($($kind:ident is $rust:ty, $offered:ident, by $parse:ident and $accept:ident;)*) => {$(
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
                $parse(text, ty)
            }

            fn offer<'v>(value: &'v $rust, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
                Some(Offer::$offered((*value).into()))
            }

            fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<$rust> {
                $accept(&offer)
            }
        }
    )*};
}
numbers! {
    U8 is u8, Integer, by parsed and integer;
    U16 is u16, Integer, by parsed and integer;
    U32 is u32, Integer, by parsed and integer;
    U64 is u64, Integer, by parsed and integer;
    I8 is i8, Integer, by parsed and integer;
    I16 is i16, Integer, by parsed and integer;
    I32 is i32, Integer, by parsed and integer;
    I64 is i64, Integer, by parsed and integer;
    F32 is f32, Float, by parsed_float and narrow_float;
    F64 is f64, Float, by parsed_float and float;
}

/// Converts the offered content to an integer. Returns `None` if the conversion is not exact.
fn integer<T: TryFrom<i128>>(offer: &Offer<'_>) -> Option<T> {
    let integer: i128 = match *offer {
        Offer::Integer(value) => value,
        Offer::Entry(value) => value.number,
        Offer::Truth(value) => value.into(),
        // Compares bits, so that minus zero and NaN are rejected.
        Offer::Float(value) if (value as i128 as f64).to_bits() == value.to_bits() => value as i128,
        _ => return None,
    };
    integer.try_into().ok()
}

/// Converts the offered content to `f64`. Returns `None` if the conversion is not exact.
fn float(offer: &Offer<'_>) -> Option<f64> {
    match *offer {
        // Converts back through `i128`, because `as i64` saturates and would accept 2^63 - 1 as exact.
        Offer::Integer(value) => (value as f64 as i128 == value).then_some(value as f64),
        Offer::Float(value) => Some(value),
        _ => None,
    }
}

/// Converts the offered content to `f32`. Returns `None` if the conversion is not exact.
fn narrow_float(offer: &Offer<'_>) -> Option<f32> {
    let value = float(offer)?;
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == value.to_bits()).then_some(narrow)
}

/// Parses a floating-point number. Refuses numbers that are too large for the type.
fn parsed_float<T: FromStr<Err: Display> + Copy + Into<f64>>(text: &str, ty: &PropertyType) -> Result<T, ParseError> {
    let value: T = parsed(text, ty)?;
    let wide: f64 = value.into();
    // The text contains digits and is therefore not `inf`, so the number is too large for the type.
    if wide.is_infinite() && text.contains(|letter: char| letter.is_ascii_digit()) {
        return Err(fail(text, ty, "it is too large"));
    }
    Ok(value)
}
