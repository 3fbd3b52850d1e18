//! After a `fork`, the child has one thread and locks that other threads may have held. Nothing is ever unmapped there,
//! so nothing needs to be on record: the hooks become the functions they stand for.
#![expect(unsafe_code, reason = "registers a handler in C")]

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// From now on a child knows that it is one.
pub(super) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler is the host's own, and does nothing that a child may not do.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}

/// Whether this process was forked from one that had images.
pub(super) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

unsafe extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}
