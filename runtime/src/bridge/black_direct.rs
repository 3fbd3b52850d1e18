//! The answers of calls without slots, in which plugins call functions of the host. Errors wait here until the caller fetches them.

use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use alcedo_abi::direct::{DirectAnswer, DirectStatus};

use crate::border::{CallError, trap};
use crate::object::native_value::NativeResult;

thread_local! {
    /// Why the last direct call on this thread has failed.
    static FAILED: Cell<Option<CallError>> = const { Cell::new(None) };
}

/// Does a direct call. What it throws is stopped here, which costs nothing where nothing is thrown.
#[inline]
pub(crate) fn guarded(call: impl FnOnce() -> DirectAnswer) -> DirectAnswer {
    // As in the trap: unwinding releases the guards that the runtime's own state is changed under.
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(thrown)
}

/// A part of a direct call; the answer, where it throws.
#[inline]
pub(crate) fn attempted<T>(code: impl FnOnce() -> T) -> Result<T, DirectAnswer> {
    // As above.
    catch_unwind(AssertUnwindSafe(code)).map_err(thrown)
}

/// The answer of a call that has thrown something: an error, as accessors do, or a panic.
#[cold]
#[inline(never)]
fn thrown(payload: Box<dyn Any + Send>) -> DirectAnswer {
    failed(match payload.downcast::<CallError>() {
        Ok(error) => *error,
        // The trap knows what a panic says, and how its payload ends.
        Err(panic) => match trap(|| -> Result<Infallible, CallError> { resume_unwind(panic) }) {
            Ok(never) => match never {},
            Err(error) => error,
        },
    })
}

/// The answer of a call that gives this.
#[inline]
pub(crate) fn given<R: NativeResult>(given: Result<R, CallError>) -> DirectAnswer {
    match given {
        Ok(result) => DirectAnswer::done(result.into_slot().bits()),
        Err(error) => failed(error),
    }
}

/// The answer of a call that failed. The caller fetches the reason.
#[cold]
#[inline(never)]
pub(crate) fn failed(error: CallError) -> DirectAnswer {
    // A thread whose locals have ended has nobody left who could ask.
    let _gone = FAILED.try_with(|failed| failed.set(Some(error)));
    DirectAnswer::without(DirectStatus::FAILED)
}

/// The same for an error in a box.
#[cold]
#[inline(never)]
#[expect(clippy::boxed_local, reason = "callers have it in a box, which they hand over in a register")]
pub(crate) fn failed_with(error: Box<CallError>) -> DirectAnswer {
    failed(*error)
}

/// Runs `code` between a call and the fetching of its failure: what fails meanwhile is kept apart from that.
pub(crate) fn beside_failure(code: impl FnOnce()) {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    code();
    let _gone = FAILED.try_with(|failed| failed.set(kept));
}

/// Why the last direct call on this thread has failed.
pub(crate) fn take_failure() -> CallError {
    let kept = FAILED.try_with(Cell::take).ok().flatten();
    kept.unwrap_or_else(|| CallError::other("no direct call has failed on this thread"))
}
