//! Results of direct calls from plugins to host functions. The error of a failed call is stored until the caller fetches the error.

use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use alcedo_abi::direct::{DirectAnswer, DirectStatus};

use crate::boundary::{CallError, catch_panics};
use crate::object::native_value::NativeResult;

/// Answer that makes the caller take the slow path with slots.
pub(crate) const NOT_DONE: DirectAnswer = DirectAnswer::without(DirectStatus::NOT_DONE);

thread_local! {
    /// Error of the last direct call on this thread.
    static FAILED: Cell<Option<CallError>> = const { Cell::new(None) };
}

/// Performs a direct call and catches panics. A call without a panic has no extra cost.
#[inline]
pub(crate) fn guarded(call: impl FnOnce() -> DirectAnswer) -> DirectAnswer {
    // Unwinding drops the guards of the runtime's state, as it does in the panic guard.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(thrown)
}

/// Runs one step of a direct call. If the step panics, stores the error, and returns the answer that reports a failed call.
#[inline]
pub(crate) fn attempted<T>(code: impl FnOnce() -> T) -> Result<T, DirectAnswer> {
    catch_unwind(AssertUnwindSafe(code)).map_err(thrown)
}

/// Converts a panic payload to the answer of a failed call. Accessors panic with a `CallError` as payload.
#[cold]
#[inline(never)]
fn thrown(payload: Box<dyn Any + Send>) -> DirectAnswer {
    failed(match payload.downcast::<CallError>() {
        Ok(error) => *error,
        // The panic guard formats the panic message and drops the payload.
        Err(panic) => match catch_panics(|| -> Result<Infallible, CallError> { resume_unwind(panic) }) {
            Ok(never) => match never {},
            Err(error) => error,
        },
    })
}

/// Converts the result of a function to the answer of a direct call.
#[inline]
pub(crate) fn to_answer<R: NativeResult>(result: Result<R, CallError>) -> DirectAnswer {
    match result {
        Ok(value) => DirectAnswer::done(value.into_slot().bits()),
        Err(error) => failed(error),
    }
}

/// Stores the error of a failed call until the caller fetches the error. Returns the answer that reports the failure.
#[cold]
#[inline(never)]
pub(crate) fn failed(error: CallError) -> DirectAnswer {
    // Fails only if the thread-local variables of this thread are destroyed. Such a thread makes no further calls.
    let _gone = FAILED.try_with(|failed| failed.set(Some(error)));
    DirectAnswer::without(DirectStatus::FAILED)
}

/// Stores a boxed error like [`failed`].
#[cold]
#[inline(never)]
#[expect(clippy::boxed_local, reason = "callers own the error in a box, and pass the box in a register")]
pub(crate) fn failed_with(error: Box<CallError>) -> DirectAnswer {
    failed(*error)
}

/// Returns the error for an argument word that is not a value of its type.
#[cold]
pub(crate) fn in_no_slot() -> CallError {
    CallError::other("a parameter of a direct call is not stored in a slot")
}

/// Runs `code`, and then restores the stored error of the last direct call. Used while the caller has not yet fetched this error.
pub(crate) fn preserve_failure(code: impl FnOnce()) {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    code();
    let _gone = FAILED.try_with(|failed| failed.set(kept));
}

/// Removes and returns the error of the last direct call on this thread.
pub(crate) fn take_failure() -> CallError {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    kept.unwrap_or_else(|| CallError::other("no direct call has failed on this thread"))
}
