//! Table of values by number. Numbers, such as the ids of classes, are assigned in sequence and never reused. A lookup is as fast as in a
//! vector. A vector, however, would keep a slot for every number ever assigned, and would grow with every reload. This table removes long
//! runs of empty slots, so that its size depends only on the number of live values.

/// Maximum number of consecutive empty slots within a [`Piece`]. At a longer run of empty slots, the table is split into two pieces.
const LONGEST_GAP: u64 = 16;

/// Number of slots up to which a table is never compacted.
const SHORTEST: usize = 64;

/// Values by number.
///
/// # Examples
/// ```
/// use alcedo_base::id_table::IdTable;
///
/// let mut calls = IdTable::default();
/// calls.insert(1, "jump");
/// calls.insert(900, "land");
/// assert_eq!(calls.get(900), Some(&"land"));
/// assert_eq!(calls.remove(900), Some("land"));
/// assert_eq!(calls.next(), 901);
/// ```
#[derive(Debug)]
pub struct IdTable<T> {
    /// Pieces of the table, in ascending order of their numbers. Each piece has consecutive numbers, and gaps separate the pieces.
    pieces: Vec<Piece<T>>,
    /// Number of slots in all pieces.
    slot_count: usize,
    /// Number of slots above which the table is compacted.
    slot_limit: usize,
    /// Highest number that ever had a value, plus one.
    next: u64,
}

#[derive(Debug)]
struct Piece<T> {
    first: u64,
    slots: Vec<Option<T>>,
}

impl<T> Piece<T> {
    fn end(&self) -> u64 {
        self.first + self.slots.len() as u64
    }
}

impl<T> Default for IdTable<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), slot_count: 0, slot_limit: SHORTEST, next: 0 }
    }
}

impl<T> IdTable<T> {
    /// Returns the value that is stored under a number.
    #[inline]
    pub fn get(&self, number: u64) -> Option<&T> {
        let last = self.pieces.last()?;
        // Checks the last piece first, because most lookups concern the newest values.
        let piece = if number >= last.first { last } else { self.before_last(number)? };
        piece.slots.get(usize::try_from(number - piece.first).ok()?)?.as_ref()
    }

    fn before_last(&self, number: u64) -> Option<&Piece<T>> {
        let behind = self.pieces.partition_point(|piece| piece.first <= number);
        self.pieces.get(behind.checked_sub(1)?)
    }

    /// Returns the highest number that ever had a value, plus one. Returns zero if no number had a value.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Stores a value under a number and returns the previous value.
    pub fn insert(&mut self, number: u64, value: T) -> Option<T> {
        self.next = self.next.max(number + 1);
        let behind = self.pieces.partition_point(|piece| piece.first <= number);
        let before = behind.checked_sub(1).map(|at| &mut self.pieces[at]);
        if let Some(piece) = before {
            if number < piece.end() {
                return piece.slots[(number - piece.first) as usize].replace(value);
            }
            let gap = number - piece.end();
            let is_last = behind == self.pieces.len();
            if is_last && gap <= LONGEST_GAP {
                let piece = &mut self.pieces[behind - 1];
                piece.slots.extend((0..gap).map(|_| None));
                piece.slots.push(Some(value));
                self.slot_count += gap as usize + 1;
                self.cut_if_long();
                return None;
            }
        }
        self.pieces.insert(behind, Piece { first: number, slots: vec![Some(value)] });
        self.slot_count += 1;
        self.cut_if_long();
        None
    }

    /// Removes and returns the value that is stored under a number.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<T> {
        let behind = self.pieces.partition_point(|piece| piece.first <= number);
        let piece = self.pieces.get_mut(behind.checked_sub(1)?)?;
        piece.slots.get_mut(usize::try_from(number - piece.first).ok()?)?.take()
    }

    /// Removes the values for which `is_meant` returns `true`. Returns the removed values in the order of their numbers.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::id_table::IdTable;
    ///
    /// let mut scores = IdTable::default();
    /// for (number, score) in [(1, 10), (2, 75), (3, 90)] {
    ///     scores.insert(number, score);
    /// }
    /// assert_eq!(scores.take_if(|score| *score > 50), [75, 90]);
    /// assert_eq!(scores.iter().collect::<Vec<_>>(), [(1, &10)]);
    /// ```
    #[inline]
    pub fn take_if(&mut self, mut is_meant: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let slots = self.pieces.iter_mut().flat_map(|piece| &mut piece.slots);
        slots.filter_map(|slot| slot.take_if(&mut is_meant)).collect()
    }

    /// Returns an iterator over numbers and values in ascending order of the numbers, starting at `number`.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::id_table::IdTable;
    ///
    /// let mut waves = IdTable::default();
    /// for number in [1, 4, 90] {
    ///     waves.insert(number, number * 10);
    /// }
    /// assert_eq!(waves.iter_from(2).collect::<Vec<_>>(), [(4, &40), (90, &900)]);
    /// ```
    #[inline]
    pub fn iter_from(&self, number: u64) -> impl Iterator<Item = (u64, &T)> {
        let pieces = self.pieces.iter().filter(move |piece| piece.end() > number);
        let all = pieces.flat_map(|piece| (piece.first..).zip(&piece.slots));
        all.filter(move |(at, _)| *at >= number).filter_map(|(at, slot)| Some((at, slot.as_ref()?)))
    }

    /// Returns an iterator over numbers and values in ascending order of the numbers.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.iter_from(0)
    }

    /// Compacts the table if its size has doubled since the last compaction. A compaction takes linear time and must therefore be rare.
    fn cut_if_long(&mut self) {
        if self.slot_count <= self.slot_limit {
            return;
        }
        let old = std::mem::take(&mut self.pieces);
        // Prevents the insertions below from compacting the table again.
        (self.slot_count, self.slot_limit) = (0, usize::MAX);
        for (first, slots) in old.into_iter().map(|piece| (piece.first, piece.slots)) {
            for (number, value) in (first..).zip(slots).filter_map(|(number, slot)| Some((number, slot?))) {
                self.insert(number, value);
            }
        }
        self.pieces.iter_mut().for_each(|piece| piece.slots.shrink_to_fit());
        self.slot_limit = (2 * self.slot_count).max(SHORTEST);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{IdTable, LONGEST_GAP, SHORTEST};

    impl<T> IdTable<T> {
        fn slot_count(&self) -> usize {
            assert_eq!(self.slot_count, self.pieces.iter().map(|piece| piece.slots.len()).sum::<usize>());
            self.slot_count
        }
    }

    #[test]
    fn table_size_follows_the_number_of_values() {
        let mut table = IdTable::default();
        (0..10).for_each(|number| assert_eq!(table.insert(number, number), None));
        for number in 10..100_000 {
            table.insert(number, number);
            if number >= 20 {
                assert_eq!(table.remove(number - 10), Some(number - 10));
            }
            assert!(table.slot_count() <= 2 * (20 + SHORTEST), "{} at {number}", table.slot_count());
        }
        assert_eq!(
            (table.get(5), table.get(50), table.get(99_999), table.next()),
            (Some(&5), None, Some(&99_999), 100_000)
        );
        assert_eq!(table.iter().count(), 20);
    }

    #[test]
    fn sparse_values_cost_at_most_the_remaining_gaps() {
        let mut table = IdTable::default();
        for number in 0..100_000u64 {
            table.insert(number, ());
            if number % 1000 != 0 {
                table.remove(number);
            }
        }
        assert_eq!(table.iter().count(), 100);
        assert!(table.slot_count() <= 2 * 100 * LONGEST_GAP as usize, "{}", table.slot_count());
        assert_eq!((table.get(3000), table.get(3001)), (Some(&()), None));
    }

    #[test]
    fn an_id_table_matches_a_map() {
        let (mut table, mut map, mut seed) = (IdTable::default(), BTreeMap::new(), 7u64);
        for step in 0..50_000u64 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Selects mostly numbers near the end of the table, but also random numbers and numbers far beyond the end.
            let number = match seed >> 61 {
                0 => (seed >> 20) % (step + 1),
                1 => step + (seed >> 20) % 100,
                _ => step.saturating_sub((seed >> 20) % 30),
            };
            if seed >> 40 & 1 == 0 {
                assert_eq!(table.insert(number, step), map.insert(number, step), "{step}");
            } else {
                assert_eq!(table.remove(number), map.remove(&number), "{step}");
            }
            assert_eq!(table.get(number), map.get(&number), "{step}");
            if step % 5000 == 0 {
                assert!(table.iter().eq(map.iter().map(|(number, value)| (*number, value))), "{step}");
                assert!(table.iter_from(number).eq(map.range(number..).map(|(number, value)| (*number, value))));
                let odd = table.take_if(|value| *value % 3 == 0);
                assert_eq!(
                    odd,
                    map.extract_if(.., |_, value| *value % 3 == 0).map(|(_, value)| value).collect::<Vec<_>>()
                );
            }
        }
        table.slot_count();
    }

    #[test]
    fn ids_around_a_cut_are_found_and_set_again() {
        let mut table = IdTable::default();
        for number in [3, 1000, 2000] {
            table.insert(number, number);
        }
        assert_eq!(
            [2, 3, 4, 999, 1000, 1001, 2000, 2001].map(|at| table.get(at).is_some()),
            [false, true, false, false, true, false, true, false]
        );
        assert_eq!((table.insert(999, 0), table.insert(1001, 1), table.insert(0, 2)), (None, None, None));
        let numbers: Vec<_> = table.iter().map(|(number, value)| (number, *value)).collect();
        assert_eq!(numbers, [(0, 2), (3, 3), (999, 0), (1000, 1000), (1001, 1), (2000, 2000)]);
        assert_eq!((table.remove(1000), table.remove(1000), table.remove(5)), (Some(1000), None, None));
    }
}
