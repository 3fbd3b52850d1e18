//! After a `fork`, the child has one thread and locks that other threads may have held. Nothing is ever unmapped there,
//! so nothing needs to be on record: the hooks become the functions they stand for.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::callbacks;

static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// From now on a child knows that it is one.
pub(super) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _made = callbacks::in_children(in_child);
    });
}

/// Whether this process was forked from one that had images.
pub(super) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}
