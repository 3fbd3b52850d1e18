//! Detects child processes after `fork`. A child has only one thread. Other threads of the parent may have held locks during the `fork`.
//! Images are never unmapped in a child. The hooks in a child therefore only call the C functions and record nothing.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::callbacks;

static IS_CHILD: AtomicBool = AtomicBool::new(false);

pub(super) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _made = callbacks::in_children(in_child);
    });
}

/// Checks if this process was forked from a process with images.
pub(super) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    IS_CHILD.store(true, Ordering::Relaxed);
}
