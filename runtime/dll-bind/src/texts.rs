//! Text of the host is UTF-8, of C UTF-16.

use crate::breach::Breach;

/// A unit, as its bytes lie in memory.
type Unit = [u8; 2];

/// Adds the units of a text, without a zero at the end.
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

/// The text that units are.
pub(crate) fn text(units: &[Unit]) -> Result<String, Breach> {
    let numbers = || units.iter().map(|unit| u16::from_ne_bytes(*unit));
    // All at once, so that the compiler does many in one step.
    if numbers().fold(0, |all, unit| all | unit) < 0x80 {
        return Ok(numbers().map(|unit| char::from(unit as u8)).collect());
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

/// The units that bytes are.
pub(crate) fn units_of(bytes: &[u8]) -> &[Unit] {
    bytes.as_chunks().0
}

/// The units before the first zero.
pub(crate) fn up_to_zero(bytes: &[u8]) -> Result<&[Unit], Breach> {
    let units = units_of(bytes);
    let end = units.iter().position(|unit| *unit == [0, 0]);
    end.map(|end| &units[..end]).ok_or(Breach::Unterminated { units: units.len() })
}

#[cfg(test)]
mod tests {
    use super::{append, text, units_of};
    use crate::breach::Breach;

    fn units(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        append(&mut bytes, text);
        bytes
    }

    #[test]
    fn a_text_comes_back_and_half_a_pair_is_named() {
        for one in ["", "a", "abc\u{7f}", "äöü", "\u{80}", "日本語", "a🦀b", "\u{ffff}\u{10ffff}"] {
            assert_eq!(text(units_of(&units(one))).as_deref(), Ok(one));
        }
        let crab = units("a🦀");
        let half = u16::from_ne_bytes([crab[2], crab[3]]);
        assert_eq!(text(&units_of(&crab)[..2]), Err(Breach::NoText { at: 1, unit: half }));
        let second = units_of(&crab)[2];
        let unit = u16::from_ne_bytes(second);
        assert_eq!(text(&[second, units_of(&crab)[0]]), Err(Breach::NoText { at: 0, unit }));
    }
}
