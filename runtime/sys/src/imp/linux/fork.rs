//! Detects child processes after `fork`. A child has only one thread, and a lock that another thread of the parent held during the `fork`
//! stays locked in the child. Hooks in a child therefore only call the C functions and record nothing. A child needs no records, because it
//! never unmaps images.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::callbacks;

static IS_CHILD: AtomicBool = AtomicBool::new(false);

pub(super) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _made = callbacks::pthread_atfork(None, None, Some(in_child));
    });
}

/// Checks if this process was forked from a process that had called [`listen`]. Async-signal-safe.
pub(super) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}
