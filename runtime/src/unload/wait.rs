//! Waits of the game thread for an unload. A wait polls, because no condition variable reports the events that end an unload.

use std::time::Duration;

use crate::bridge::core::Core;
use crate::cells::Restore;

/// Duration of the first sleep, and maximum duration of a sleep.
const SLEEP_RANGE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));

/// Maximum number of posted closures that run between two checks of the limit. The number is limited, because other threads may post
/// closures continuously.
const BATCH: usize = 256;

/// Waits until `is_done` returns true, and then returns true. Returns false if `is_late` returned true before the last call of `is_done`.
/// Between two calls, sleeps with increasing durations, or runs posted closures. In a reload, in a creation of the Master, and before any
/// commit, the closures stay queued, because the runtime would reject their operations. Like [`checkpoint`](alcedo_sys::checkpoint), the
/// wait also drops thread-locals of unloading modules on this thread.
pub(crate) fn wait_until(core: &Core, is_late: impl Fn() -> bool, mut is_done: impl FnMut() -> bool) -> bool {
    let (mut sleep, longest) = SLEEP_RANGE;
    loop {
        // Checks the limit first, so that the last check of the result follows the end of the limit.
        let is_last = is_late();
        alcedo_sys::checkpoint();
        if is_done() {
            return true;
        }
        if is_last {
            return false;
        }
        let has_more = !core.world.mode.is_before_commit() && {
            let _waiting = Restore::in_cell(&core.tasks.runs_in_wait, true);
            core.pump_posted(BATCH)
        };
        if !has_more {
            std::thread::sleep(sleep);
            // Grows slowly, so that the last sleep is short in comparison with the whole wait.
            sleep = longest.min(sleep * 5 / 4);
        }
    }
}
