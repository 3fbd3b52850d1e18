//! What this module itself found wrong, until the host reads it.

use std::sync::{Mutex, MutexGuard, PoisonError};

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Something is not as it should be.
pub(crate) fn say(complaint: impl Into<String>) {
    complaints().push(complaint.into());
}

/// All complaints since the last time; empty if there are none.
pub(crate) fn take() -> String {
    std::mem::take(&mut *complaints()).join("; ")
}

fn complaints() -> MutexGuard<'static, Vec<String>> {
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner)
}
