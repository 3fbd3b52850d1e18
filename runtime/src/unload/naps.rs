//! How the game thread sleeps while it waits for what is about to end.

use std::time::Duration;

/// The shortest and the longest nap.
const NAPS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Naps that get longer.
pub(crate) struct Naps(Duration);

impl Default for Naps {
    fn default() -> Self {
        Self(NAPS.0)
    }
}

impl Naps {
    /// Sleeps for a moment.
    pub(crate) fn sleep(&mut self) {
        std::thread::sleep(self.0);
        self.0 = NAPS.1.min(self.0 * 2);
    }
}
