//! Red zones around buffers that a C function may write to. The zones are filled with a known pattern. After the call, a changed pattern
//! reveals an out-of-bounds write.

use crate::breach::Breach;

/// Size in bytes of the red zone before and after each buffer. Writes beyond the zones are not detected.
pub const RED_ZONE: usize = 64;

/// Content of the red zones. No byte is zero, because most out-of-bounds writes write zeros.
pub(crate) const ZONE: [u8; RED_ZONE] = {
    let mut zone = [0; RED_ZONE];
    let mut at = 0;
    while at < RED_ZONE {
        zone[at] = (at as u8).wrapping_mul(37) ^ 0xa6 | 1;
        at += 1;
    }
    zone
};

/// Checks the zones around the buffer at `start`. The buffer has `size` bytes.
pub(crate) fn check(memory: &[u8], start: usize, size: usize) -> Result<(), Breach> {
    let (before, behind) = (&memory[start - RED_ZONE..start], &memory[start + size..start + size + RED_ZONE]);
    if before != ZONE {
        let first = before.iter().zip(ZONE).position(|(found, expected)| *found != expected).unwrap_or_default();
        return Err(Breach::Before { bytes: RED_ZONE - first, size });
    }
    if behind != ZONE {
        let last = behind.iter().zip(ZONE).rposition(|(found, expected)| *found != expected).unwrap_or_default();
        return Err(Breach::Behind { bytes: last + 1, size });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{RED_ZONE, ZONE, check};
    use crate::breach::Breach;

    #[test]
    fn each_byte_of_a_zone_is_checked() {
        let clean = [&ZONE[..], &[1, 2, 3], &ZONE].concat();
        assert_eq!(check(&clean, RED_ZONE, 3), Ok(()));
        for at in 0..RED_ZONE {
            let mut memory = clean.clone();
            memory[at] = 0;
            assert_eq!(check(&memory, RED_ZONE, 3), Err(Breach::Before { bytes: RED_ZONE - at, size: 3 }));
            let mut memory = clean.clone();
            memory[RED_ZONE + 3 + at] ^= 1;
            assert_eq!(check(&memory, RED_ZONE, 3), Err(Breach::Behind { bytes: at + 1, size: 3 }));
        }
    }
}
