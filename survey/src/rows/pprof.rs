//! A profile taken a hundred times a second by a timer and a signal, ended when the module ends, or left running.

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
        while begin.elapsed() < Duration::from_millis(100) {
            sum = black_box(sum.wrapping_add(1));
        }
        let report = guard.report().build()?;
        Ok::<_, Error>(report.timing.frequency == 100 && sum > 0)
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "pprof-leaked")) {
        drop(GUARD.take());
    }
}
