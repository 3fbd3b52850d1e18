//! When a world under development is saved: right after each commit, and then every few seconds, but never so often that
//! the saving is more than a small part of the time. Decides only.

use std::time::Duration;

/// So often, if saving is cheap.
const EVERY: Duration = Duration::from_secs(3);
/// Saving may take this part of the time.
const PART: u32 = 50;

/// When it was saved last, and what that cost. Times are since the host began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Autosave {
    last: Option<(Duration, Duration)>,
}

impl Autosave {
    /// Whether it is time, `now`. The first time is as soon as there is anything.
    pub(super) fn is_due(self, now: Duration) -> bool {
        self.last.is_none_or(|(at, took)| now.saturating_sub(at) >= EVERY.max(took * PART))
    }

    /// A commit has changed everything: it is time.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// It was saved, or tried to, `now`, and took so long.
    pub(super) fn note(&mut self, now: Duration, took: Duration) {
        self.last = Some((now, took));
    }
}

#[cfg(test)]
mod tests {
    use super::Autosave;
    use std::time::Duration;

    #[test]
    fn a_world_is_saved_every_few_seconds_and_a_large_one_less_often() {
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
