//! Panic guard at the ABI boundary. The guard prevents unwinding out of the module, and converts a panic into a failure with the message
//! and location of the panic. If `fail` has thrown a typed error, the failure is that of the typed error. The guard drops the panic payload
//! inside the module.
//!
//! The module's own panic hook prints nothing and captures no backtrace, because the symbol cache of a backtrace would outlive the image.
//! The hook first reports message and location to the host. At this time, the stack is still intact, so the host can record the call stack
//! and resolve its symbols outside the module. The hook then stores message and location for the panic guard of this thread. An author's
//! hook runs after the module's hook (`panic_hook.rs`).

use std::any::{Any, TypeId};
use std::cell::Cell;
use std::fmt::Display;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind};

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::direct::{DirectAnswer, DirectStatus};
use alcedo_abi::log::LogLevel;
use alcedo_abi::words::{panic_message, words_into};

use crate::attached::{is_free, is_game_thread};
use crate::error::{CallError, SourcePlace};
use crate::{panic_hook, records};

struct Note {
    message: String,
    payload: TypeId,
    file: String,
    line: u32,
    column: u32,
}

/// Panic payload that carries a typed error.
struct Thrown(CallError);

thread_local! {
    // The thread-local contains a leaked box, because an owned box would register a thread-local destructor.
    static NOTE: Cell<Option<&'static Cell<Option<Note>>>> = const { Cell::new(None) };
    static OPEN_GUARDS: Cell<u32> = const { Cell::new(0) };
}

/// Runs `code`, and writes an error or a panic into `failure`. Always inlined in an optimized build. Otherwise, several trampolines would
/// share one guard function that calls `code` indirectly.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn catch_panics(failure: &mut Failure, code: impl FnOnce() -> Result<(), CallError>) -> Status {
    // Each access of a thread-local in a library is a function call. If both accesses are inlined into one function, the compiler merges
    // the two calls into one. A closure around this code would prevent the inlining.
    OPEN_GUARDS.set(OPEN_GUARDS.get() + 1);
    let status = catch_panics_uncounted(failure, code);
    OPEN_GUARDS.set(OPEN_GUARDS.get() - 1);
    status
}

/// Variant of [`catch_panics`] for frequent calls on the game thread. Does not increment the counter of open panic guards, because access
/// to this thread-local is expensive. The counter is not needed on the game thread: all calls enter the module through panic guards, so all
/// panics are caught.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn catch_panics_uncounted(failure: &mut Failure, code: impl FnOnce() -> Result<(), CallError>) -> Status {
    // Unwind safety: the plugin author owns the data that `code` was changing. Unwinding drops this data, or releases the borrow of the
    // plugin part that contains the data.
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(())) => Status::OK,
        Ok(Err(error)) => fill(failure, error.into_failure()),
        Err(payload) => fill(failure, failure_of(payload)),
    }
}

/// Runs the `code` of a direct call that returns a word. Does not increment the counter of open panic guards, like
/// [`catch_panics_uncounted`]. On other threads than the game thread, the host counts direct calls.
///
/// Writes `failure` if and only if the status is `FAILED`, and does not drop the previous value.
#[inline]
pub fn catch_panics_directly(
    failure: &mut MaybeUninit<Failure>,
    code: impl FnOnce() -> Result<u64, CallError>,
) -> DirectAnswer {
    // Unwind safety: see `catch_panics`.
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(bits)) => return DirectAnswer::done(bits),
        Ok(Err(error)) => failure.write(error.into_failure()),
        Err(payload) => failure.write(failure_of(payload)),
    };
    DirectAnswer::without(DirectStatus::FAILED)
}

fn caught<T>(code: impl FnOnce() -> T) -> Result<T, CallError> {
    let (mut failure, mut value) = (Failure::none(), None);
    let _status = catch_panics(&mut failure, || {
        value = Some(code());
        Ok(())
    });
    value.ok_or_else(|| CallError::from_failure(failure))
}

/// Formats and drops a value whose `Display` and `Drop` are the author's code.
///
/// # Errors
/// Returns the errors of [`words_into`].
pub fn format_value(value: impl Display) -> Result<String, CallError> {
    let mut message = String::new();
    words_into(value, &mut message, |step| caught(step)).map(|()| message)
}

impl CallError {
    /// Returns an error with the message of `error` and the source location of the caller. With such an error, a function that returns
    /// `Result<_, CallError>` reports the line of the failure.
    ///
    /// # Examples
    /// ```
    /// use alcedo_rt::CallError;
    ///
    /// fn buy(gold: u32, price: u32) -> Result<u32, CallError> {
    ///     gold.checked_sub(price).ok_or_else(|| CallError::returned(format!("{} gold are missing", price - gold)))
    /// }
    /// assert_eq!(buy(10, 7).ok(), Some(3));
    /// assert_eq!(buy(3, 7).unwrap_err().message(), "4 gold are missing");
    /// ```
    #[must_use]
    #[track_caller]
    pub fn returned(error: impl Display) -> Self {
        let location = std::panic::Location::caller();
        let location =
            SourcePlace { file: location.file().to_owned(), line: location.line(), column: location.column() };
        Self::returned_at(error, &location)
    }

    /// Creates an error as [`CallError::returned`] does, but with the given `location`. If `Display` or `Drop` of `error` panics, returns
    /// an error for this panic instead.
    #[must_use]
    pub fn returned_at(error: impl Display, location: &SourcePlace) -> Self {
        let SourcePlace { file, line, column } = location;
        let message = match format_value(error) {
            Ok(message) => message,
            Err(panic) => return panic,
        };
        let failure = Failure::new(FailureKind::RETURNED, message);
        Self::from_failure(Failure { file: file.as_str().into(), line: *line, column: *column, ..failure })
    }
}

#[cold]
fn fill(failure: &mut Failure, found: Failure) -> Status {
    *failure = found;
    Status::FAILED
}

/// Ends the running call with a typed error. Unwinds to the panic guard and runs destructors on the stack. Does not call the panic hook.
pub fn fail(error: CallError) -> ! {
    resume_unwind(Box::new(Thrown(error)))
}

#[cold]
fn failure_of(payload: Box<dyn Any + Send>) -> Failure {
    let payload = match payload.downcast::<Thrown>() {
        Ok(thrown) => return thrown.0.into_failure(),
        Err(payload) => payload,
    };
    let (message, payload_type) = (panic_message(&*payload).map(str::to_owned), (*payload).type_id());
    // If code has resumed an older panic, the note may be that of a different panic, and then differs in the message or the payload type.
    let is_of_it = |note: &Note| match &message {
        Some(message) => note.message == *message,
        None => note.payload == payload_type,
    };
    let note = take_note().filter(is_of_it);
    if note.is_none() || panic_hook::was_lost() {
        keep_hook();
    }
    discard(payload);
    match (message, note) {
        (_, Some(note)) => Failure {
            file: note.file.into(),
            line: note.line,
            column: note.column,
            ..Failure::new(FailureKind::PANIC, note.message)
        },
        (Some(message), None) => Failure::new(FailureKind::PANIC, message),
        (None, None) => Failure::new(FailureKind::PANIC, "a panic without a message"),
    }
}

/// Drops a payload. If this drop panics, catches the second panic and leaks its payload.
fn discard(payload: Box<dyn Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        drop(take_note());
        std::mem::forget(second);
    }
}

fn take_note() -> Option<Note> {
    NOTE.get().and_then(Cell::take)
}

fn keep_note(note: Note) {
    let slot = NOTE.get().unwrap_or_else(|| {
        let slot: &'static Cell<Option<Note>> = Box::leak(Box::new(Cell::new(None)));
        NOTE.set(Some(slot));
        slot
    });
    slot.set(Some(note));
}

/// Installs the hook that records panics of this module. The hook prints nothing.
pub(crate) fn install_hook() {
    panic_hook::install(hook);
}

/// Reinstalls the panic hook of the module after its main function, if the author's code has replaced the hook.
pub fn keep_hook() {
    panic_hook::ensure(hook);
}

/// Messages of the standard library before it aborts because a panic must not unwind further. The panic occurred in a function that C code
/// has called, or in a destructor that runs because of an earlier panic.
const ABORT_MESSAGES: [&str; 2] = ["panic in a function that cannot unwind", "panic in a destructor during cleanup"];

/// Returns true if this panic occurred in a direct call. Called only for a panic outside of all counted panic guards on this thread. For a
/// module without objects, the host counts the calls. The module cannot compare thread numbers itself, because a new thread may reuse the
/// number of an ended thread.
fn is_direct_call() -> bool {
    if is_free() { records::calls_are_open() } else { is_game_thread() }
}

fn hook(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
    let location = info.location();
    let (file, line, column) =
        location.map_or(("", 0, 0), |location| (location.file(), location.line(), location.column()));
    records::panicked(&message, file, line, column);
    if ABORT_MESSAGES.contains(&&*message) {
        // The program aborts before a panic guard is reached. Therefore both the original panic and this message are logged here.
        if let Some(Note { message, file, line, .. }) = take_note() {
            records::event(LogLevel::ERROR, "alcedo::panic", &message, &file, line);
        }
        records::event(LogLevel::ERROR, "alcedo::panic", &message, file, line);
        return;
    }
    // `OPEN_GUARDS` does not count the guards of direct calls, red constructors and kept fields.
    if OPEN_GUARDS.get() == 0 && !is_direct_call() {
        // The panic is on a thread that the module started. It is logged here, because no caller receives the failure.
        records::event(LogLevel::ERROR, "alcedo::panic", &message, file, line);
        return;
    }
    keep_note(Note { message, payload: info.payload().type_id(), file: file.to_owned(), line, column });
}

#[cfg(test)]
mod tests {
    use super::{Note, catch_panics, catch_panics_directly, fail, keep_note};
    use crate::CallError;
    use alcedo_abi::call::{Failure, FailureKind, Status};
    use alcedo_abi::direct::{DirectAnswer, DirectStatus};
    use std::mem::MaybeUninit;

    fn check(code: impl FnOnce() -> Result<(), CallError>) -> (FailureKind, String) {
        let mut failure = Failure::none();
        let status = catch_panics(&mut failure, code);
        assert_eq!(status == Status::OK, failure.kind == FailureKind::NONE);
        (failure.kind, failure.message.as_str().to_owned())
    }

    #[test]
    fn a_direct_call_returns_whether_it_failed() {
        let mut failure = MaybeUninit::uninit();
        assert_eq!(catch_panics_directly(&mut failure, || Ok(7)), DirectAnswer::done(7));
        assert_eq!(catch_panics_directly(&mut failure, || panic!("no")), DirectAnswer::without(DirectStatus::FAILED));
        assert_eq!(
            catch_panics_directly(&mut failure, || fail(CallError::new(FailureKind::STALE, "gone"))),
            DirectAnswer::without(DirectStatus::FAILED)
        );
    }

    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb)
        }
    }

    #[test]
    fn a_clean_call_leaves_no_failure() {
        assert_eq!(check(|| Ok(())).0, FailureKind::NONE);
    }

    #[test]
    fn a_panic_becomes_a_failure_with_its_message() {
        assert_eq!(check(|| panic!("no {}", 1)), (FailureKind::PANIC, "no 1".to_owned()));
    }

    #[test]
    fn a_resumed_panic_does_not_use_the_note_of_an_earlier_one() {
        let found = check(|| {
            let payload = std::any::TypeId::of::<&str>();
            keep_note(Note { message: "earlier".to_owned(), payload, file: "a.rs".to_owned(), line: 1, column: 1 });
            std::panic::resume_unwind(Box::new("resumed"))
        });
        assert_eq!(found, (FailureKind::PANIC, "resumed".to_owned()));
    }

    #[test]
    fn a_typed_error_is_the_same_error_returned_or_thrown() {
        let stale = || CallError::new(FailureKind::STALE, "gone");
        assert_eq!(check(|| Err(stale())).0, FailureKind::STALE);
        assert_eq!(check(|| fail(stale())).0, FailureKind::STALE);
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_caught() {
        assert_eq!(check(|| std::panic::panic_any(Bomb)).0, FailureKind::PANIC);
    }
}
