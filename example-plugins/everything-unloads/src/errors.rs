//! Collects the errors that this module finds, until the host reads them.

use std::sync::{Mutex, MutexGuard, PoisonError};

static ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) fn add(error: impl Into<String>) {
    errors().push(error.into());
}

/// Returns and removes all errors, joined into one string. The string is empty if no errors were found.
pub(crate) fn take() -> String {
    std::mem::take(&mut *errors()).join("; ")
}

fn errors() -> MutexGuard<'static, Vec<String>> {
    ERRORS.lock().unwrap_or_else(PoisonError::into_inner)
}
