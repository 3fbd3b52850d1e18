//! A planted fault, for the sanitizers to show that they look.
#![expect(unsafe_code, reason = "commits the fault that safe code cannot")]

use std::hint::black_box;

/// Reads a box that is gone.
pub(crate) fn read_after_free() {
    let freed: *const u64 = black_box(&raw const *Box::new(7_u64));
    // SAFETY: there is none. The box ended with the line above, and to read it is the fault that must be found.
    let ghost = unsafe { freed.read_volatile() };
    tracing::debug!(ghost, "read after free");
}
