//! Installs a signal handler, and never removes it.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static SEEN: OnceLock<Arc<AtomicBool>> = OnceLock::new();

pub(crate) fn begin() {
    let seen = SEEN.get_or_init(Arc::default);
    let _id = signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(seen));
}

pub(crate) fn work() -> String {
    let Some(seen) = SEEN.get() else { return "no handler".to_owned() };
    seen.store(false, Ordering::SeqCst);
    match signal_hook::low_level::raise(signal_hook::consts::SIGUSR1) {
        Ok(()) if seen.load(Ordering::SeqCst) => "ok".to_owned(),
        Ok(()) => "the signal did not arrive".to_owned(),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn end() {}
