//! Schedule for saving a world under development: after each commit, and then every few seconds. The interval grows with the time that a
//! save takes on the game thread, which limits the share of the run time that is spent on saves. This file only determines when a save is
//! due.
//!
//! A save after a commit is complete before the next tick, because the new code may crash in this tick. For a periodic save, the game
//! thread only copies the state of all objects, in the encoding of the file. The copy is made at one safe point, so the saved world is
//! consistent. During the next ticks, a separate thread writes, syncs and replaces the file.

use std::time::Duration;

/// Minimum interval between saves.
const EVERY: Duration = Duration::from_secs(3);
/// Inverse of the maximum share of the run time that is spent on saves.
const PART: u32 = 50;

/// Kind of a save that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Due {
    /// The file must be complete before the next tick.
    Now,
    /// A separate thread may write the file.
    Later,
}

/// Time and duration of the last save. Times are measured from the start of the host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Autosave {
    last: Option<(Duration, Duration)>,
}

impl Autosave {
    /// Returns the kind of the save that is due at `now`. The first save is due immediately.
    pub(super) fn due(self, now: Duration) -> Option<Due> {
        let Some((at, elapsed)) = self.last else { return Some(Due::Now) };
        (now.saturating_sub(at) >= EVERY.max(elapsed * PART)).then_some(Due::Later)
    }

    /// Makes the next save due immediately. Called after a commit.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Records a save or a failed save at `now`, with its duration `elapsed`.
    pub(super) fn note(&mut self, now: Duration, elapsed: Duration) {
        self.last = Some((now, elapsed));
    }
}

#[cfg(test)]
mod tests {
    use super::{Autosave, Due};
    use std::time::Duration;

    #[test]
    fn worlds_are_saved_every_few_seconds_and_large_ones_less_often() {
        let seconds = Duration::from_secs_f64;
        let mut autosave = Autosave::default();
        assert_eq!(autosave.due(seconds(0.0)), Some(Due::Now));
        autosave.note(seconds(1.0), seconds(0.001));
        assert_eq!(autosave.due(seconds(3.9)), None);
        assert_eq!(autosave.due(seconds(4.0)), Some(Due::Later));
        autosave.note(seconds(4.0), seconds(1.0));
        assert_eq!(autosave.due(seconds(53.9)), None);
        assert_eq!(autosave.due(seconds(54.0)), Some(Due::Later));
        autosave.forget();
        assert_eq!(autosave.due(seconds(4.1)), Some(Due::Now));
    }
}
