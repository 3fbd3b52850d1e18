//! Set of disjoint address ranges, with the semantics of mappings: a new range replaces the old content, and parts may be removed.

use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges by start address. Adjacent ranges are not merged.
#[derive(Default, Debug)]
pub(super) struct Ranges {
    ends: BTreeMap<usize, usize>,
}

impl Ranges {
    pub(super) fn insert(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.remove(range.clone());
            self.ends.insert(range.start, range.end);
        }
    }

    pub(super) fn remove(&mut self, range: Range<usize>) -> Vec<Range<usize>> {
        let touched: Vec<_> = self
            .ends
            .range(..range.end)
            .rev()
            .take_while(|(_, end)| **end > range.start)
            .map(|(start, end)| *start..*end)
            .collect();
        for old in &touched {
            self.ends.remove(&old.start);
            if old.start < range.start {
                self.ends.insert(old.start, range.start);
            }
            if range.end < old.end {
                self.ends.insert(range.end, old.end);
            }
        }
        touched.into_iter().map(|old| old.start.max(range.start)..old.end.min(range.end)).collect()
    }

    pub(super) fn take(&mut self) -> Vec<Range<usize>> {
        std::mem::take(&mut self.ends).into_iter().map(|(start, end)| start..end).collect()
    }

    pub(super) fn all(&self) -> Vec<Range<usize>> {
        self.ends.iter().map(|(start, end)| *start..*end).collect()
    }

    pub(super) fn contains(&self, address: usize) -> bool {
        self.ends.range(..=address).next_back().is_some_and(|(_, end)| address < *end)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.ends.iter().map(|(start, end)| (end - start) as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    /// Compares a set with an array of marks under the same random operations.
    #[test]
    fn range_sets_agree_with_a_bitmap() {
        const LEN: usize = 64;
        let mut random = 7u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        for _ in 0..2_000 {
            let (mut ranges, mut marks) = (Ranges::default(), [false; LEN]);
            for _ in 0..12 {
                let start = next(LEN);
                let range = start..start + next(LEN - start + 1);
                if next(3) > 0 {
                    ranges.insert(range.clone());
                    marks[range].fill(true);
                } else {
                    let removed: usize = ranges.remove(range.clone()).iter().map(ExactSizeIterator::len).sum();
                    assert_eq!(removed, marks[range.clone()].iter().filter(|mark| **mark).count());
                    marks[range].fill(false);
                }
                assert_eq!(ranges.bytes() as usize, marks.iter().filter(|mark| **mark).count());
            }
            let mut left = [false; LEN];
            ranges.take().into_iter().for_each(|range| left[range].fill(true));
            assert_eq!((left, ranges.bytes()), (marks, 0));
        }
    }
}
