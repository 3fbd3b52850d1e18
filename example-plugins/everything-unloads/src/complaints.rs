//! Errors that this module found itself, stored until the host reads them.

use std::sync::{Mutex, MutexGuard, PoisonError};

static COMPLAINTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds an error.
pub(crate) fn say(complaint: impl Into<String>) {
    complaints().push(complaint.into());
}

/// Takes all errors since the last call; empty if there are none.
pub(crate) fn take() -> String {
    std::mem::take(&mut *complaints()).join("; ")
}

fn complaints() -> MutexGuard<'static, Vec<String>> {
    COMPLAINTS.lock().unwrap_or_else(PoisonError::into_inner)
}
