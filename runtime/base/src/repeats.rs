//! Rate limit for repeated log messages. Reports the first event, and each later event whose count is a power of ten, so that an error that
//! recurs in every tick does not flood the log.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::cells::RefCell;

/// Maximum number of counted keys, which bounds the memory. A map that reaches this size is cleared, and all counts restart.
const MOST: usize = 4096;

/// Counts of events by key. The counter is not thread-safe.
///
/// # Examples
/// ```
/// use alcedo_base::repeats::Repeats;
///
/// let repeats = Repeats::new();
/// let reported: Vec<u64> = (0..250).filter_map(|_| repeats.note(1, &"enemy.tick")).collect();
/// assert_eq!(reported, [1, 10, 100]);
/// assert_eq!(repeats.note(2, &"enemy.tick"), Some(1));
/// ```
#[derive(Debug, Default)]
pub struct Repeats(RefCell<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Newest generation of an event so far. Later events of older generations are added to the counts of this generation.
    generation: u64,
    of: HashMap<u64, u64>,
}

impl Repeats {
    /// Creates a counter without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one occurrence of the event `key` in the generation `generation`. Returns the count if the event should be reported. These
    /// are the counts 1, 10, 100, 1000, and so on. An event of a newer generation resets all counts.
    pub fn note(&self, generation: u64, key: &impl Hash) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let mut counts = self.0.borrow_mut();
        if generation > counts.generation || counts.of.len() >= MOST {
            counts.of.clear();
            counts.generation = counts.generation.max(generation);
        }
        let count = counts.of.entry(hasher.finish()).or_default();
        *count += 1;
        should_report(*count).then_some(*count)
    }

    /// Resets all counts.
    pub fn forget(&self) {
        self.0.borrow_mut().of.clear();
    }
}

/// Formats a count as the suffix of a message. The suffix of the first event is empty.
///
/// # Examples
/// ```
/// use alcedo_base::repeats::times;
///
/// assert_eq!(format!("tick failed{}", times(1)), "tick failed");
/// assert_eq!(format!("tick failed{}", times(100)), "tick failed (100 times by now)");
/// ```
#[must_use]
pub fn times(count: u64) -> String {
    if count == 1 { String::new() } else { format!(" ({count} times by now)") }
}

fn should_report(count: u64) -> bool {
    count != 0 && count == 10_u64.pow(count.ilog10())
}

#[cfg(test)]
mod tests {
    use super::{MOST, Repeats, times};

    #[test]
    fn the_first_and_each_power_of_ten_are_reported() {
        let repeats = Repeats::new();
        let reported: Vec<_> = (0..2000).filter_map(|_| repeats.note(1, &("Hero:Tick", 12))).collect();
        assert_eq!(reported, [1, 10, 100, 1000]);
        assert_eq!(repeats.note(1, &("Hero:Tick", 13)), Some(1), "another place");
        repeats.forget();
        assert_eq!(repeats.note(1, &("Hero:Tick", 12)), Some(1), "as if it were new");
        assert_eq!(repeats.note(2, &("Hero:Tick", 12)), Some(1), "a newer generation");
        assert_eq!(repeats.note(1, &("Hero:Tick", 12)), None, "an older one is counted with it");
        assert_eq!([1, 10].map(times), [String::new(), " (10 times by now)".to_owned()]);
    }

    #[test]
    fn more_than_any_program_has_are_not_kept() {
        let repeats = Repeats::new();
        for at in 0..MOST + 10 {
            let _count = repeats.note(1, &at);
        }
        assert_eq!(repeats.0.borrow().of.len(), 10);
    }
}
