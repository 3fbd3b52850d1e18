//! Conversion between UTF-8 strings of the host and UTF-16 strings of C.

use crate::breach::Breach;

/// UTF-16 unit in the byte order of the platform.
type Unit = [u8; 2];

/// Appends the UTF-16 units of a string, without a terminating zero.
pub(crate) fn append(bytes: &mut Vec<u8>, text: &str) {
    if text.is_ascii() {
        let start = bytes.len();
        bytes.resize(start + text.len() * 2, 0);
        let (units, _) = bytes[start..].as_chunks_mut();
        units.iter_mut().zip(text.bytes()).for_each(|(unit, letter)| *unit = u16::from(letter).to_ne_bytes());
    } else {
        bytes.extend(text.encode_utf16().flat_map(u16::to_ne_bytes));
    }
}

pub(crate) fn decode(units: &[Unit]) -> Result<String, Breach> {
    let numbers = || units.iter().map(|unit| u16::from_ne_bytes(*unit));
    // Checks all units without an early exit, so that the compiler can vectorize the loop.
    if numbers().fold(0, |all, unit| all | unit) < 0x80
        && let Ok(text) = String::from_utf8(numbers().map(|unit| unit as u8).collect())
    {
        return Ok(text);
    }
    let mut text = String::with_capacity(units.len());
    let mut at = 0;
    for letter in char::decode_utf16(numbers()) {
        match letter {
            Ok(letter) => {
                text.push(letter);
                at += letter.len_utf16();
            }
            Err(half) => return Err(Breach::NoText { at, unit: half.unpaired_surrogate() }),
        }
    }
    Ok(text)
}

pub(crate) fn units_of(bytes: &[u8]) -> &[Unit] {
    bytes.as_chunks().0
}

pub(crate) fn up_to_zero(bytes: &[u8]) -> Result<&[Unit], Breach> {
    let units = units_of(bytes);
    let end = units.iter().position(|unit| *unit == [0, 0]);
    end.map(|end| &units[..end]).ok_or(Breach::Unterminated { units: units.len() })
}

#[cfg(test)]
mod tests {
    use super::{append, decode, units_of};
    use crate::breach::Breach;

    fn units(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(&mut bytes, text);
        bytes
    }

    #[test]
    fn a_string_round_trips_and_an_unpaired_surrogate_is_named() {
        for expected in ["", "a", "abc\u{7f}", "äöü", "\u{80}", "日本語", "a🦀b", "\u{ffff}\u{10ffff}"] {
            assert_eq!(decode(units_of(&units(expected))).as_deref(), Ok(expected));
        }
        let crab = units("a🦀");
        let half = u16::from_ne_bytes([crab[2], crab[3]]);
        assert_eq!(decode(&units_of(&crab)[..2]), Err(Breach::NoText { at: 1, unit: half }));
        let second = units_of(&crab)[2];
        let unit = u16::from_ne_bytes(second);
        assert_eq!(decode(&[second, units_of(&crab)[0]]), Err(Breach::NoText { at: 0, unit }));
    }
}
