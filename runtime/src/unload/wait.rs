//! Waits of the game thread for an unload. A wait polls, because no condition variable reports the events that end an unload.

use std::time::Duration;

use crate::bridge::core::Core;

/// Duration of the first sleep, and maximum duration of a sleep.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Number of closures between two checks of the limit, because other threads may post continuously.
const BATCH: usize = 256;

/// Waits until `is_done` is true, and then returns true. Returns false if `is_late` was true before the last call of `is_done`. Between two
/// calls, sleeps with increasing durations, and runs posted closures. In a reload, in a creation and before a commit, the closures stay
/// queued, because the runtime would reject their operations.
pub(crate) fn wait_until(core: &Core, is_late: impl Fn() -> bool, mut is_done: impl FnMut() -> bool) -> bool {
    let (mut sleep, longest) = SLEEP_RANGE;
    loop {
        // Checks the limit first, so that the last check of the result follows the end of the limit.
        let is_last = is_late();
        if is_done() {
            return true;
        }
        if is_last {
            return false;
        }
        let has_more = !core.world.mode.is_before_commit() && core.pump_posted(BATCH);
        if !has_more {
            std::thread::sleep(sleep);
            sleep = longest.min(sleep * 2);
        }
    }
}
