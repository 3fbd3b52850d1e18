//! Schedule for saving a world under development: after each commit, and then every few seconds. The interval grows with the duration of a
//! save, to limit the share of the run time that saves take. This file only determines when a save is due.

use std::time::Duration;

/// Minimum interval between saves.
const EVERY: Duration = Duration::from_secs(3);
/// Inverse of the maximum share of the run time that saves take.
const PART: u32 = 50;

/// Time and duration of the last save. Times are measured from the start of the host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Autosave {
    last: Option<(Duration, Duration)>,
}

impl Autosave {
    /// Checks if a save is due at `now`. The first save is due immediately.
    pub(super) fn is_due(self, now: Duration) -> bool {
        self.last.is_none_or(|(at, elapsed)| now.saturating_sub(at) >= EVERY.max(elapsed * PART))
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
    use super::Autosave;
    use std::time::Duration;

    #[test]
    fn worlds_are_saved_every_few_seconds_and_large_ones_less_often() {
        let seconds = Duration::from_secs_f64;
        let mut autosave = Autosave::default();
        assert!(autosave.is_due(seconds(0.0)));
        autosave.note(seconds(1.0), seconds(0.001));
        assert!(!autosave.is_due(seconds(3.9)));
        assert!(autosave.is_due(seconds(4.0)));
        autosave.note(seconds(4.0), seconds(1.0));
        assert!(!autosave.is_due(seconds(53.9)));
        assert!(autosave.is_due(seconds(54.0)));
        autosave.forget();
        assert!(autosave.is_due(seconds(4.1)));
    }
}
