//! Takes samples for a profile a hundred times a second, by a timer that sends a signal. The profiler is stopped when the module ends. In
//! the row `pprof-leaked`, the profiler is left running.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::local::Kept;

use pprof::{Error, ProfilerGuard, ProfilerGuardBuilder};

static GUARD: Kept<ProfilerGuard<'static>> = Kept::new();

pub(crate) fn begin() {
    GUARD.keep(ProfilerGuardBuilder::default().frequency(100).blocklist(&["libc", "libgcc", "vdso"]).build());
}

pub(crate) fn work() -> String {
    GUARD.work(|guard| {
        let begin = Instant::now();
        let mut sum = 0_u64;
        // Waits long enough, because the timer counts processor time, of which this process may receive little on a busy machine.
        while begin.elapsed() < Duration::from_secs(10) {
            let slice = Instant::now();
            while slice.elapsed() < Duration::from_millis(50) {
                sum = black_box(sum.wrapping_add(1));
            }
            let report = guard.report().build()?;
            if report.timing.frequency == 100 && report.data.values().sum::<isize>() > 1 {
                return Ok::<_, Error>(sum > 0);
            }
        }
        Ok(false)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "pprof-leaked")) {
        drop(GUARD.take());
    }
}
