//! Backoff of the game thread while it waits for an unload.

use std::time::Duration;

/// Shortest and longest sleep.
const NAPS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Sleeps of increasing length.
pub(crate) struct Naps(Duration);

impl Default for Naps {
    fn default() -> Self {
        Self(NAPS.0)
    }
}

impl Naps {
    pub(crate) fn sleep(&mut self) {
        std::thread::sleep(self.0);
        self.0 = NAPS.1.min(self.0 * 2);
    }
}
