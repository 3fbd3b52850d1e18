//! Bytes of a serialized field. Most fields are short, and a save serializes the fields of each object, so short data needs no allocation.

use std::fmt;
use std::ops::Deref;

/// Maximum length of data that is stored in place.
const SHORT: usize = 64;

/// A serialized value in CBOR.
pub struct Cbor {
    short: [u8; SHORT],
    /// Number of bytes in `short`.
    len: usize,
    /// All bytes, if they exceed `short`. Otherwise empty.
    long: Vec<u8>,
}

impl Default for Cbor {
    fn default() -> Self {
        Self { short: [0; SHORT], len: 0, long: Vec::new() }
    }
}

impl Cbor {
    /// Adds bytes at the end.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if self.long.is_empty() && end <= SHORT {
            self.short[self.len..end].copy_from_slice(bytes);
            self.len = end;
            return;
        }
        if self.long.is_empty() {
            self.long.extend_from_slice(&self.short[..self.len]);
        }
        self.long.extend_from_slice(bytes);
    }
}

impl Deref for Cbor {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.long.is_empty() { &self.short[..self.len] } else { &self.long }
    }
}

impl fmt::Debug for Cbor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of CBOR", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Cbor, SHORT};

    #[test]
    fn bytes_keep_their_order_at_each_length() {
        for size in [1, 3, SHORT - 1, SHORT, SHORT + 1, 5 * SHORT] {
            let (mut found, mut expected) = (Cbor::default(), Vec::new());
            for at in 0..3 * SHORT {
                let piece = vec![at as u8; if at % 7 == 0 { 0 } else { size.min(at + 1) }];
                found.push(&piece);
                expected.extend_from_slice(&piece);
                assert_eq!(*found, *expected, "pieces of {size} bytes");
                assert_eq!(found.long.is_empty(), expected.len() <= SHORT);
            }
        }
    }
}
