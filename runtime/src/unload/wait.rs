//! Waits of the game thread for an unload. A wait polls, because no condition variable reports the events that end an unload.

use std::time::Duration;

use crate::bridge::core::Core;

/// Duration of the first sleep, and maximum duration of a sleep.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Calls `check` until it returns a value. Between two calls, sleeps with increasing durations, and runs posted closures. In a reload, in
/// a creation and before a commit, the closures stay queued, because the runtime would reject their operations.
pub(crate) fn wait_until<T>(core: &Core, mut check: impl FnMut() -> Option<T>) -> T {
    let (mut sleep, longest) = SLEEP_RANGE;
    loop {
        if let Some(done) = check() {
            return done;
        }
        if !core.world.mode.is_before_commit() {
            core.pump_posted();
        }
        std::thread::sleep(sleep);
        sleep = longest.min(sleep * 2);
    }
}
