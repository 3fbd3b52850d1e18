//! Waits of the game thread for an unload. A wait polls, because no condition variable reports the events that end an unload.

use std::time::Duration;

use crate::bridge::core::Core;

/// Duration of the first sleep, and maximum duration of a sleep.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Number of closures between two calls of `check`. A limit of the wait is checked there, while other threads may post continuously.
const BATCH: usize = 256;

/// Calls `check` until it returns a value. Between two calls, sleeps with increasing durations, and runs posted closures. In a reload, in
/// a creation and before a commit, the closures stay queued, because the runtime would reject their operations.
pub(crate) fn wait_until<T>(core: &Core, mut check: impl FnMut() -> Option<T>) -> T {
    let (mut sleep, longest) = SLEEP_RANGE;
    loop {
        if let Some(done) = check() {
            return done;
        }
        let has_more = !core.world.mode.is_before_commit() && core.pump_posted(BATCH);
        if !has_more {
            std::thread::sleep(sleep);
            sleep = longest.min(sleep * 2);
        }
    }
}
