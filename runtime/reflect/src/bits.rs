//! Bit sets with one bit per slot of the object store. The sets are small enough to stay in the processor cache during a mark phase.

use std::ops::Range;

/// Set of indices.
#[derive(Clone, Debug, Default)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    #[inline]
    pub(super) fn get(&self, index: u32) -> bool {
        self.words.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 != 0)
    }

    #[inline]
    pub(super) fn put(&mut self, index: u32, value: bool) {
        let at = index as usize / 64;
        let bit = 1 << (index % 64);
        match self.words.get_mut(at) {
            Some(word) => *word = if value { *word | bit } else { *word & !bit },
            None if value => self.grow_and_put(at, bit),
            None => {}
        }
    }

    #[cold]
    fn grow_and_put(&mut self, at: usize, word: u64) {
        self.words.resize((at + 1).next_power_of_two(), 0);
        self.words[at] = word;
    }

    /// Sets a bit. Returns `true` if the bit was clear, and `false` if the bit was set or is outside the reserved range.
    #[inline]
    pub(super) fn take(&mut self, index: u32) -> bool {
        let Some(word) = self.words.get_mut(index as usize / 64) else { return false };
        let bit = 1 << (index % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(super) fn reserve(&mut self, len: u32) {
        let words = (len as usize).div_ceil(64);
        if words > self.words.len() {
            self.words.resize(words, 0);
        }
    }

    /// Iterates over the indices of bits that are set in `self` and not in `other`, in ascending order.
    pub(super) fn without(&self, other: &Self) -> impl Iterator<Item = u32> {
        self.without_in(other, 0..self.words.len())
    }

    /// Variant of [`Bits::without`] that scans only the given blocks. A block has 64 indices.
    pub(super) fn without_in(&self, other: &Self, blocks: Range<usize>) -> impl Iterator<Item = u32> {
        let word = |words: &[u64], at: usize| words.get(at).copied().unwrap_or(0);
        blocks.flat_map(move |at| ones(at, word(&self.words, at) & !word(&other.words, at)))
    }

    /// Returns the index of the first set bit at or above `from`.
    pub(super) fn first_from(&self, from: u32) -> Option<u32> {
        let at = from as usize / 64;
        let word = self.words.get(at)? >> (from % 64);
        if word != 0 {
            return Some(from + word.trailing_zeros());
        }
        let at = (at + 1..self.words.len()).find(|at| self.words[*at] != 0)?;
        Some(at as u32 * 64 + self.words[at].trailing_zeros())
    }

    /// Returns the number of bits that are set in `self` and not in `other`.
    pub(super) fn count_without(&self, other: &Self) -> usize {
        let other = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter().zip(other).map(|(word, other)| (word & !other).count_ones() as usize).sum()
    }
}

fn ones(at: usize, mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(at as u32 * 64 + bit)
    })
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn bits_are_set_taken_and_listed() {
        let (mut one, mut two) = (Bits::default(), Bits::default());
        [0, 63, 64, 200].into_iter().for_each(|bit| one.put(bit, true));
        two.put(64, true);
        two.put(9999, false);
        assert!(one.get(200) && !one.get(199) && !one.get(1_000_000));
        assert_eq!(one.without(&Bits::default()).collect::<Vec<_>>(), [0, 63, 64, 200]);
        assert_eq!(one.without(&two).collect::<Vec<_>>(), [0, 63, 200]);
        assert_eq!((one.count_without(&two), two.count_without(&one)), (3, 0));
        assert_eq!(one.without_in(&two, 1..9).collect::<Vec<_>>(), [200]);
        let first = [0, 1, 63, 64, 65, 201, u32::MAX].map(|from| one.first_from(from));
        assert_eq!(first, [Some(0), Some(63), Some(63), Some(64), Some(200), None, None]);
        one.put(63, false);
        assert!(one.take(63) && !one.take(63) && !one.take(1_000_000));
    }
}
