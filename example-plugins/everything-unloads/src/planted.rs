//! Contains an intentional use after free, by which tests prove that the sanitizers detect such faults.
#![expect(unsafe_code, reason = "commits the fault that safe code cannot")]

use std::hint::black_box;

/// Reads a freed box.
pub(crate) fn read_after_free() {
    let freed: *const u64 = black_box(&raw const *Box::new(7_u64));
    // SAFETY: none. The box was freed by the line above; reading it is the fault that must be found.
    let ghost = unsafe { freed.read_volatile() };
    tracing::debug!(ghost, "read after free");
}
