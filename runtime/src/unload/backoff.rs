//! Backoff for waits of the game thread for an unload.

use std::time::Duration;

/// Duration of the first sleep, and maximum duration of a sleep.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Sleeps with increasing durations.
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(SLEEP_RANGE.0)
    }
}

impl Backoff {
    pub(crate) fn sleep(&mut self) {
        std::thread::sleep(self.0);
        self.0 = SLEEP_RANGE.1.min(self.0 * 2);
    }
}
