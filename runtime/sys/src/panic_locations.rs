//! Selects the panics that are reported with their call stacks. A panic may recur in every tick for every object, so the number of reports
//! per location and the number of locations are limited.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::time::Duration;

/// Location of a panic.
#[derive(Clone, Copy, Debug, Hash)]
pub struct At<'a> {
    /// Source file as named by the compiler.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl At<'_> {
    /// Returns a hash of the location and of `notes`, the number of loaded libraries. After a reload, the hash of a source line differs. A
    /// panic of the new generation is therefore reported even if the previous generation has just panicked in this line.
    pub(crate) fn number(&self, notes: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self, notes).hash(&mut hasher);
        hasher.finish()
    }
}

/// Slots for reports, each with the last panic that was written to the slot.
#[derive(Debug)]
pub(crate) struct Slots {
    last: [Option<(u64, Duration)>; Self::COUNT],
    number: usize,
}

impl Slots {
    pub(crate) const COUNT: usize = 16;
    /// Minimum time between two reports in one slot. During this time, the supervisor can read the files of the slot. The limit also bounds
    /// the time that panics spend on reports.
    const REST: Duration = Duration::from_secs(1);

    pub(crate) const fn new() -> Self {
        Self { last: [None; Self::COUNT], number: 0 }
    }

    /// Returns the slot for a panic at this location, and the number of the report. Returns `None` if the panic is not reported.
    pub(crate) fn claim(&mut self, location: u64, now: Duration) -> Option<(usize, usize)> {
        let has_rested = |at: Duration| now.saturating_sub(at) >= Self::REST;
        let same = self.last.iter().position(|last| last.is_some_and(|(of, _)| of == location));
        // Slots that were never used count as the oldest.
        let oldest = || (0..Self::COUNT).min_by_key(|slot| self.last[*slot].map(|(_, at)| at));
        let slot = same.or_else(oldest)?;
        if !self.last[slot].is_none_or(|(_, at)| has_rested(at)) {
            return None;
        }
        self.last[slot] = Some((location, now));
        self.number += 1;
        Some((slot, self.number))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{At, Slots};

    #[test]
    fn each_generation_of_a_line_is_recorded_immediately() {
        let at = At { file: "cube/src/lib.rs", line: 7, column: 9 };
        let mut slots = Slots::new();
        assert_eq!(slots.claim(at.number(1), Duration::ZERO), Some((0, 1)));
        assert_eq!(slots.claim(at.number(1), Duration::from_millis(400)), None);
        assert_eq!(slots.claim(at.number(2), Duration::from_millis(400)), Some((1, 2)));
    }

    #[test]
    fn repeated_locations_are_throttled_and_their_number_is_limited() {
        let at = Duration::from_millis;
        let mut slots = Slots::new();
        assert_eq!(slots.claim(7, at(0)), Some((0, 1)));
        assert_eq!(slots.claim(7, at(999)), None, "just now");
        assert_eq!(slots.claim(7, at(1000)), Some((0, 2)), "the same slot");
        let others: Vec<_> = (100..115).map(|location| slots.claim(location, at(1100)).map(|(slot, _)| slot)).collect();
        assert_eq!(others, (1..16).map(Some).collect::<Vec<_>>());
        assert_eq!(slots.claim(200, at(1900)), None, "every slot was written just now");
        assert_eq!(slots.claim(200, at(2000)), Some((0, 18)), "the oldest makes room");
        assert_eq!(slots.claim(7, at(2050)), None);
    }
}
