//! Errors that make a running call fail. An accessor that returns no `Result` unwinds with the error. `failing` catches this unwinding, and
//! returns the error.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::boundary::CallError;

/// Unwinds out of the running call, which then returns the error. Used by accessors that do not return a `Result`.
#[cold]
pub fn fail(error: CallError) -> ! {
    resume_unwind(Box::new(error))
}

/// Returns the value of a result. For an error, calls [`fail`] with this error.
#[inline]
pub fn or_end<T>(result: Result<T, CallError>) -> T {
    result.unwrap_or_else(|error| fail(error))
}

/// Runs `code`. If [`fail`] unwinds out of `code`, returns the error.
pub(crate) fn failing<R>(code: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
    failing_then(code, || {})
}

/// Runs `code` like [`failing`], and then runs `after`. Also runs `after` if `code` panics.
pub(super) fn failing_then<R>(
    code: impl FnOnce() -> Result<R, CallError>,
    after: impl FnOnce(),
) -> Result<R, CallError> {
    let returned = catch_unwind(AssertUnwindSafe(code));
    after();
    returned.unwrap_or_else(|thrown| match thrown.downcast::<CallError>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}
