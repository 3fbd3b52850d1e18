//! Hash maps whose adjacent keys are adjacent in memory. A world creates, loads and destroys many objects in sequence, with consecutive
//! numbers in their names. With a usual hash, each such step misses the cache in each map of names.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Map in which 16 keys share a group of buckets if only the last four bits of the keys differ: numbers from `16 * n` to `16 * n + 15`, or
/// strings that differ in the last digit.
pub(crate) type NearMap<K, V> = HashMap<K, V, BuildHasherDefault<NearHasher>>;

/// Bits of the last number or byte that select the bucket within a group.
const NEAR: u64 = 15;

/// Bits of the hash by which a map compares keys within a group. These bits must differ within a group.
const TAG: u64 = 0x7f << (u64::BITS - 7);

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy, Default)]
pub(crate) struct NearHasher {
    /// Hash of all bits except the last four.
    far: u64,
    near: u64,
}

impl Hasher for NearHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let far = (self.far ^ self.near).rotate_left(26) ^ (number & !NEAR);
        *self = Self { far: far.wrapping_mul(FACTOR), near: number & NEAR };
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    /// Ignores the byte that `str` writes after its content, so that the last byte of the content selects the bucket.
    #[inline]
    fn write_u8(&mut self, _end: u8) {}

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let Some((last, first)) = bytes.split_last() else { return };
        let (words, rest) = first.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        }
        // The length distinguishes strings that differ in trailing zeros.
        self.write_u64((bytes.len() as u64) << 8 | u64::from(*last));
    }

    #[inline]
    fn finish(&self) -> u64 {
        let far = self.far ^ self.far >> 32;
        (far & !NEAR | self.near) ^ (self.near.wrapping_mul(FACTOR) & TAG)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher as _, BuildHasherDefault, Hash};

    use super::{NEAR, NearHasher, TAG};

    fn hash(key: impl Hash) -> u64 {
        BuildHasherDefault::<NearHasher>::default().hash_one(key)
    }

    #[test]
    fn adjacent_keys_share_a_group_and_differ_in_their_tags() {
        for at in [0_u32, 160, 1 << 20] {
            let numbers: Vec<_> = (at..at + 16).map(|number| hash((7_u64, number))).collect();
            let groups: HashSet<_> = numbers.iter().map(|hash| hash & !NEAR & !TAG).collect();
            let tags: HashSet<_> = numbers.iter().map(|hash| hash & TAG).collect();
            assert_eq!((groups.len(), tags.len()), (1, 16));
            let strings = (0..10).map(|digit| hash(format!("Cube_{at}{digit}")) & !NEAR & !TAG);
            assert_eq!(strings.collect::<HashSet<_>>().len(), 1);
        }
    }

    #[test]
    fn groups_are_spread_over_the_buckets() {
        let spread = |hashes: Vec<u64>| {
            let groups: HashSet<_> = hashes.iter().map(|hash| hash & 0xf_fff0).collect();
            groups.len() * 100 / hashes.len()
        };
        let numbers = spread((0..10_000_u32).map(|number| hash((3_u64, number * 16))).collect());
        let outers = spread((0..10_000_u64).map(|outer| hash((outer, 5_u32))).collect());
        let strings = spread((0..10_000).map(|number| hash(format!("Cube_{number}0"))).collect());
        // Random hashes fill about 92 of 100 groups.
        for found in [numbers, outers, strings] {
            assert!(found > 85, "{found} of 100 groups");
        }
    }

    #[test]
    fn strings_of_different_lengths_differ() {
        let strings = ["", "a", "a\0", "\0", "\0\0", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaaaa"];
        assert_eq!(strings.map(hash).into_iter().collect::<HashSet<_>>().len(), strings.len());
    }
}
