//! How an error ends a running call: accessors without a `Result` throw it, and whoever runs the code gives it back.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::border::CallError;

/// Ends the running call with an error: what accessors without a `Result` do.
#[cold]
pub fn fail(error: CallError) -> ! {
    resume_unwind(Box::new(error))
}

/// Gives the error that [`fail`] ended `code` with.
pub(crate) fn failing<R>(code: impl FnOnce() -> Result<R, CallError>) -> Result<R, CallError> {
    catch_unwind(AssertUnwindSafe(code)).unwrap_or_else(|thrown| match thrown.downcast::<CallError>() {
        Ok(error) => Err(*error),
        Err(panic) => resume_unwind(panic),
    })
}
