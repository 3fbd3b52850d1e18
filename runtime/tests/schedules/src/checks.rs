//! Checks the protocols of the runtime. Each check runs operations on several threads, and asserts an invariant that must be true for every
//! schedule.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

mod gate;
mod leases;
mod slim_watch;
mod ticket;

pub use gate::no_call_is_inside_a_shut_and_empty_gate;
pub use leases::sealed_and_empty_leases_stay_empty;
pub use slim_watch::{
    a_watch_dropped_by_its_callback_ends, an_unload_ends_a_watch, no_callback_runs_after_its_watch_is_dropped,
};
pub use ticket::{
    a_park_during_a_poll_parks, a_poll_or_a_park_ends_an_unload_once, all_waiting_threads_get_the_single_end,
};

/// Timeout longer than any check, so that a wait ends only when its event occurs.
const LONG: Duration = Duration::from_secs(3600);

/// Runs the check under random schedules, and under schedules with few preemptions.
fn explore(check: fn()) {
    // Runs one check at a time, because the checks share the statics of the runtime.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let schedules = std::env::var("ALCEDO_SCHEDULES").map_or(3000, |count| count.parse().expect("a number"));
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.silence_warnings = true;
    Runner::new(RandomScheduler::new(schedules), config.clone()).run(check);
    Runner::new(PctScheduler::new(3, schedules), config).run(check);
}
