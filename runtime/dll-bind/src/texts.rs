//! Text of the host is UTF-8, of C UTF-16.

use crate::breach::Breach;

/// The units of a text, without a zero at the end.
pub(crate) fn units(text: &str) -> impl Iterator<Item = u16> {
    text.encode_utf16()
}

/// The text that units are.
pub(crate) fn text(units: &[u16]) -> Result<String, Breach> {
    let mut text = String::with_capacity(units.len());
    let mut at = 0;
    for letter in char::decode_utf16(units.iter().copied()) {
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
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|unit| u16::from_ne_bytes(*unit)).collect()
}

#[cfg(test)]
mod tests {
    use super::{text, units};
    use crate::breach::Breach;

    #[test]
    fn a_text_comes_back_and_half_a_pair_is_named() {
        for one in ["", "a", "äöü", "日本語", "a🦀b", "\u{ffff}\u{10ffff}"] {
            assert_eq!(text(&units(one).collect::<Vec<_>>()).as_deref(), Ok(one));
        }
        let crab: Vec<_> = units("a🦀").collect();
        assert_eq!(text(&crab[..2]), Err(Breach::NoText { at: 1, unit: crab[1] }));
        assert_eq!(text(&[crab[2], 0x61]), Err(Breach::NoText { at: 0, unit: crab[2] }));
    }
}
