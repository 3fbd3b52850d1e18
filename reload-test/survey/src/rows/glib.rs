//! Adds a timeout to the main loop, and leaves it running. Each generation also runs the timeouts of previous generations.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use glib::{ControlFlow, MainContext};

static TICKS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn begin() {
    let _left = glib::timeout_add(Duration::from_millis(1), || {
        TICKS.fetch_add(1, Ordering::SeqCst);
        ControlFlow::Continue
    });
}

pub(crate) fn work() -> String {
    let context = MainContext::default();
    let before = TICKS.load(Ordering::SeqCst);
    while TICKS.load(Ordering::SeqCst) == before {
        context.iteration(true);
    }
    "ok".to_owned()
}

pub(crate) fn end() {}
