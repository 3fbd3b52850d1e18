//! Errors and panics at the border. A failure comes over as plain data and becomes a [`CallError`] here; a panic of
//! host code is stopped here before it could reach a module's frames. Written once, used by every shell.

use std::mem::ManuallyDrop;

use alcedo_abi::call::{Failure, FailureKind, Status};

use crate::handles::ObjectHandle;
use crate::trap;

/// The place in source code where something happened.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct SourcePlace {
    /// Source file, as the compiler of that code named it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why a call did not do its work. The host and the module go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The callee panicked; its panic was trapped on its own side.
    #[error("panicked: \"{message}\"{}", at(place.as_ref()))]
    Panicked {
        /// The panic's message.
        message: String,
        /// Where it panicked, if it said so.
        place: Option<SourcePlace>,
    },
    /// The callee ran to its end and gave an error back, as its signature says that it may. Nothing is wrong with it.
    #[error("returned the error \"{message}\"{}", at(place.as_ref()))]
    Returned {
        /// The error in its own words.
        message: String,
        /// The function that gave it back, or the line that [`CallError::returned`] stands in.
        place: Option<SourcePlace>,
    },
    /// The plugin part is borrowed by a method that has not returned.
    #[error(
        "{object}: `{wanted}` needs the plugin part while `{held}` holds it: in `{held}`, with `&mut self`, write `this.lend(self, |this| this.{wanted}(…))`"
    )]
    ReentrantBorrow {
        /// Whose plugin part.
        object: ObjectHandle,
        /// The method that holds it.
        held: String,
        /// The method that wanted it.
        wanted: String,
    },
    /// The object is gone.
    #[error("{}", stale(*handle))]
    Stale {
        /// The handle used.
        handle: ObjectHandle,
    },
    /// Only the game thread may do this.
    #[error("{action} is for the game thread only: off it a module can finalize, post and log")]
    WrongThread {
        /// What was tried.
        action: String,
    },
    /// A scope begins on the stack of a coroutine, where it could be suspended and outlive the frame around it.
    #[error(
        "{action} is refused on the stack of a coroutine, which could suspend it and outlive the call around it: let the coroutine \
         yield its request, and do it where the coroutine is resumed"
    )]
    WrongStack {
        /// The refused action.
        action: String,
    },
    /// Something comes up and is not committed, and a rollback could not take this back.
    #[error(
        "{action} is refused before the commit of what comes up: until then new code may read anything, write only what it \
         is building, and call only its own and what is declared pure; `task::post` the rest, which runs after the commit, \
         or never"
    )]
    DuringRebuild {
        /// What was tried.
        action: String,
    },
    /// A name or path that leads nowhere.
    #[error("{message}")]
    NotFound {
        /// What was looked up, where, and the way out.
        message: String,
    },
    /// The handle of a call whose module is over; what its name stands for now, if anything, has another.
    #[error("{message}")]
    DeadHandle {
        /// Which handle, and the way out.
        message: String,
    },
    /// A name that leads nowhere, and there is no Master, whose modules might have it.
    #[error("{message}")]
    NoMaster {
        /// What was looked up, where, and the way out.
        message: String,
    },
    /// Caller and callee disagree on the signature.
    #[error("{name} has the signature ({found}), the caller was built for ({wanted}): rebuild the caller")]
    Signature {
        /// The function or property.
        name: String,
        /// What it is.
        found: String,
        /// What the caller thinks it is.
        wanted: String,
    },
    /// An object of another class.
    #[error("{}object {handle} is a {found}, not a {wanted}", before(place))]
    WrongClass {
        /// The property, the parameter or the function it is not fit for; empty where it is for none of these.
        place: String,
        /// The object.
        handle: ObjectHandle,
        /// Its class.
        found: String,
        /// The class asked for.
        wanted: String,
    },
    /// The buffer of a ZCall has the wrong slots.
    #[error("{message}")]
    Buffer {
        /// Which call, which slot, what it held and what it should.
        message: String,
    },
    /// The load context cannot take calls now.
    #[error("{what} is not available: its generation is over or is being replaced")]
    Unavailable {
        /// The call or the module.
        what: String,
    },
    /// A conjugate whose frame has closed, or whose generation is over or set aside, or that was given back.
    #[error("a {what} of {age} ago has expired: `clone()` what is to be kept for longer than its call or generation")]
    Expired {
        /// Its color and kind: `red Array`, `black Array(f64)`.
        what: String,
        /// How long ago it was made or lent: `3.2 s`.
        age: String,
    },
    /// Calls inside each other went too deep.
    #[error("{what} calls itself by way of others, {limit} deep: let one of them wait for the next tick")]
    TooDeep {
        /// What was called.
        what: String,
        /// How deep it may go.
        limit: u32,
    },
    /// Values would take more memory than they may. Nothing was taken for them.
    #[error("{what} would take {bytes} bytes, of {limit} that are allowed: keep less of it, or raise `{setting}`")]
    TooLarge {
        /// Which values: one, or all that came together.
        what: String,
        /// How many bytes they would take.
        bytes: u64,
        /// How many they may.
        limit: u64,
        /// The setting of the host that says so.
        setting: String,
    },
    /// A module called while it held a slice of host memory.
    #[error("{message}")]
    Lent {
        /// Which call it was, and what to do instead.
        message: String,
    },
    /// What went wrong in a script, with the calls that led there.
    #[error("{error}{}", stack_lines(stack))]
    InScript {
        /// What went wrong.
        error: Box<CallError>,
        /// The running functions of scripts, innermost first.
        stack: Vec<ScriptPlace>,
    },
    /// Anything else.
    #[error("{message}")]
    Other {
        /// The sentence.
        message: String,
    },
}

/// A line of a script in which a function is at work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptPlace {
    /// The path of the function.
    pub function: String,
    /// The file, as its source is named.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl std::fmt::Display for ScriptPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "in {} at {}:{}", self.function, self.file, self.line)
    }
}

/// How many places of a script call stack are shown from its top and from its bottom.
const STACK_ENDS: usize = 16;

fn stack_lines(stack: &[ScriptPlace]) -> String {
    let line = |place: &ScriptPlace| format!("\n    {place}");
    match stack.len().checked_sub(2 * STACK_ENDS) {
        None | Some(0) => stack.iter().map(line).collect(),
        Some(left_out) => {
            let (top, rest) = stack.split_at(STACK_ENDS);
            let (_, bottom) = rest.split_at(left_out);
            let middle = format!("\n    … {left_out} more");
            top.iter().map(line).chain([middle]).chain(bottom.iter().map(line)).collect()
        }
    }
}

/// The place that a failure tells of, if it does.
fn place_of(failure: &Failure) -> Option<SourcePlace> {
    let Failure { file, line, column, .. } = failure;
    (!file.is_empty()).then(|| SourcePlace { file: file.as_str().to_owned(), line: *line, column: *column })
}

fn at(place: Option<&SourcePlace>) -> String {
    place.map(|place| format!(" at {place}")).unwrap_or_default()
}

fn stale(handle: ObjectHandle) -> String {
    match handle.is_none() {
        true => "the reference is to no object: check `is_none` before using it".to_owned(),
        false => format!("object {handle} is gone: ask `is_expired` before using a handle that was kept"),
    }
}

fn before(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!("{place}: ") }
}

impl CallError {
    /// An error that is only a sentence.
    #[inline]
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other { message: message.into() }
    }

    /// The error of a function that did all it could, and says so in the words of `error`. Its place is the caller's.
    ///
    /// Returns [`CallError::Panicked`] if the `Display` or the `Drop` of `error` panics.
    #[must_use]
    #[track_caller]
    pub fn returned(error: impl std::fmt::Display) -> Self {
        let place = std::panic::Location::caller();
        let place = SourcePlace { file: place.file().to_owned(), line: place.line(), column: place.column() };
        match trap::words_of(error) {
            Ok(message) => Self::Returned { message, place: Some(place) },
            Err(message) => Self::Panicked { message, place: None },
        }
    }

    /// The kind number that crosses the border.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Panicked { .. } => FailureKind::PANIC,
            Self::Returned { .. } => FailureKind::RETURNED,
            Self::ReentrantBorrow { .. } => FailureKind::REENTRANT_BORROW,
            Self::Stale { .. } => FailureKind::STALE,
            Self::WrongThread { .. } => FailureKind::WRONG_THREAD,
            Self::WrongStack { .. } => FailureKind::WRONG_STACK,
            Self::DuringRebuild { .. } => FailureKind::DURING_REBUILD,
            Self::NotFound { .. } => FailureKind::NOT_FOUND,
            Self::DeadHandle { .. } => FailureKind::DEAD_HANDLE,
            Self::NoMaster { .. } => FailureKind::NO_MASTER,
            Self::Signature { .. } => FailureKind::SIGNATURE,
            Self::WrongClass { .. } => FailureKind::WRONG_CLASS,
            Self::Buffer { .. } => FailureKind::BUFFER,
            Self::Unavailable { .. } => FailureKind::UNAVAILABLE,
            Self::Expired { .. } => FailureKind::EXPIRED,
            Self::TooDeep { .. } => FailureKind::TOO_DEEP,
            Self::TooLarge { .. } => FailureKind::TOO_LARGE,
            Self::Lent { .. } => FailureKind::LENT,
            Self::InScript { error, .. } => error.kind(),
            Self::Other { .. } => FailureKind::OTHER,
        }
    }

    /// The error as data, for the other side. Where a kind has named facts, they cross as such, so that the error
    /// is the same error after a way through several modules.
    pub fn to_failure(&self) -> Failure {
        if let Self::InScript { error, stack } = self {
            // The facts of the error cross as they are; where there is a sentence, it names the calls of the script.
            let mut failure = error.to_failure();
            let is_sentence = matches!(**error, Self::Panicked { .. } | Self::Returned { .. })
                || failure.message.as_str() == error.to_string();
            if is_sentence {
                failure.message = format!("{}{}", failure.message, stack_lines(stack)).into();
            }
            return failure;
        }
        let mut failure = Failure::new(self.kind(), self.to_string());
        match self {
            Self::Panicked { message, place } | Self::Returned { message, place } => {
                failure.message = message.as_str().into();
                if let Some(place) = place {
                    failure.file = place.file.as_str().into();
                    (failure.line, failure.column) = (place.line, place.column);
                }
            }
            Self::ReentrantBorrow { object, held, wanted } => {
                failure.object = *object;
                (failure.held, failure.wanted) = (held.as_str().into(), wanted.as_str().into());
            }
            Self::Stale { handle } => failure.object = *handle,
            Self::WrongThread { action }
            | Self::WrongStack { action }
            | Self::DuringRebuild { action }
            | Self::Unavailable { what: action } => {
                failure.message = action.as_str().into();
            }
            Self::Signature { name, found, wanted } => {
                failure.message = name.as_str().into();
                (failure.held, failure.wanted) = (found.as_str().into(), wanted.as_str().into());
            }
            Self::WrongClass { place, handle, found, wanted } => {
                failure.message = place.as_str().into();
                failure.object = *handle;
                (failure.held, failure.wanted) = (found.as_str().into(), wanted.as_str().into());
            }
            Self::TooDeep { what, limit } => (failure.held, failure.line) = (what.as_str().into(), *limit),
            Self::TooLarge { what, bytes, limit, setting } => {
                (failure.held, failure.wanted) = (what.as_str().into(), setting.as_str().into());
                failure.file = format!("{bytes} {limit}").into();
            }
            Self::Expired { what, age } => (failure.held, failure.wanted) = (what.as_str().into(), age.as_str().into()),
            Self::NotFound { .. } | Self::DeadHandle { .. } | Self::NoMaster { .. } => {}
            Self::Buffer { .. } | Self::Lent { .. } | Self::Other { .. } | Self::InScript { .. } => {}
        }
        failure
    }

    /// The error that a failure describes. All texts are copied, since the module that made them may be unloaded.
    pub fn from_failure(failure: &Failure) -> Self {
        let text = |text: &abi_stable::std_types::RString| text.as_str().to_owned();
        let message = text(&failure.message);
        match failure.kind {
            FailureKind::PANIC => Self::Panicked { message, place: place_of(failure) },
            FailureKind::RETURNED => Self::Returned { message, place: place_of(failure) },
            FailureKind::REENTRANT_BORROW => Self::ReentrantBorrow {
                object: failure.object,
                held: text(&failure.held),
                wanted: text(&failure.wanted),
            },
            FailureKind::STALE => Self::Stale { handle: failure.object },
            FailureKind::WRONG_THREAD => Self::WrongThread { action: message },
            FailureKind::WRONG_STACK => Self::WrongStack { action: message },
            FailureKind::DURING_REBUILD => Self::DuringRebuild { action: message },
            FailureKind::NOT_FOUND => Self::NotFound { message },
            FailureKind::DEAD_HANDLE => Self::DeadHandle { message },
            FailureKind::NO_MASTER => Self::NoMaster { message },
            FailureKind::SIGNATURE => {
                Self::Signature { name: message, found: text(&failure.held), wanted: text(&failure.wanted) }
            }
            FailureKind::WRONG_CLASS => Self::WrongClass {
                place: message,
                handle: failure.object,
                found: text(&failure.held),
                wanted: text(&failure.wanted),
            },
            FailureKind::BUFFER => Self::Buffer { message },
            FailureKind::LENT => Self::Lent { message },
            FailureKind::UNAVAILABLE => Self::Unavailable { what: message },
            FailureKind::TOO_DEEP => Self::TooDeep { what: text(&failure.held), limit: failure.line },
            FailureKind::TOO_LARGE => {
                let (bytes, limit) = failure.file.as_str().split_once(' ').unwrap_or_default();
                let number = |text: &str| text.parse().unwrap_or_default();
                let (bytes, limit) = (number(bytes), number(limit));
                Self::TooLarge { what: text(&failure.held), bytes, limit, setting: text(&failure.wanted) }
            }
            FailureKind::EXPIRED => Self::Expired { what: text(&failure.held), age: text(&failure.wanted) },
            _ => Self::Other { message },
        }
    }
}

/// Runs a call into a module and turns what it reports into a result.
#[inline]
pub fn from_module(call: impl FnOnce(&mut Failure) -> Status) -> Result<(), CallError> {
    reported(call).map_err(|error| *error)
}

/// The same for paths that are walked so often that it matters how large a result is.
#[inline]
pub fn reported(call: impl FnOnce(&mut Failure) -> Status) -> Result<(), Box<CallError>> {
    // Nothing is written to it unless the call fails, so there is nothing to drop; doing so would be four calls.
    let mut failure = ManuallyDrop::new(Failure::none());
    if call(&mut failure) == Status::OK {
        return Ok(());
    }
    Err(copied(ManuallyDrop::into_inner(failure)))
}

#[cold]
fn copied(failure: Failure) -> Box<CallError> {
    Box::new(CallError::from_failure(&failure))
}

/// Runs host code and turns its panic into an error.
#[inline]
pub fn trap<T>(code: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
    trap_as(code)
}

/// The same for code with errors of its own kind.
#[inline]
pub fn trap_as<T, E: From<CallError>>(code: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    trap::caught(code).unwrap_or_else(|message| Err(panicked(message).into()))
}

/// The error that a caught panic of host code is.
#[cold]
fn panicked(message: String) -> CallError {
    CallError::Panicked { message, place: None }
}

#[cfg(test)]
mod tests {
    use super::{CallError, ScriptPlace, SourcePlace, from_module, trap};
    use crate::handles::ObjectHandle;
    use alcedo_abi::call::Status;

    #[test]
    fn every_error_is_the_same_error_on_the_other_side() {
        let handle = ObjectHandle::new(3, 9);
        let text = || "x".to_owned();
        for error in [
            CallError::Panicked { message: text(), place: Some(SourcePlace { file: text(), line: 1, column: 2 }) },
            CallError::Panicked { message: text(), place: None },
            CallError::returned("x"),
            CallError::Returned { message: text(), place: None },
            CallError::ReentrantBorrow { object: handle, held: text(), wanted: "y".to_owned() },
            CallError::Stale { handle },
            CallError::WrongThread { action: text() },
            CallError::WrongStack { action: text() },
            CallError::DuringRebuild { action: text() },
            CallError::NotFound { message: text() },
            CallError::DeadHandle { message: text() },
            CallError::NoMaster { message: text() },
            CallError::Signature { name: text(), found: "y".to_owned(), wanted: "z".to_owned() },
            CallError::WrongClass { place: "z".to_owned(), handle, found: text(), wanted: "y".to_owned() },
            CallError::Buffer { message: text() },
            CallError::Unavailable { what: text() },
            CallError::Expired { what: text(), age: "y".to_owned() },
            CallError::TooDeep { what: text(), limit: 7 },
            CallError::TooLarge { what: text(), bytes: u64::MAX, limit: 1 << 40, setting: "y".to_owned() },
            CallError::Lent { message: text() },
            CallError::other("x"),
        ] {
            assert_eq!(CallError::from_failure(&error.to_failure()), error);
        }
    }

    #[test]
    fn a_reference_to_no_object_is_not_called_gone() {
        let text = |handle| CallError::Stale { handle }.to_string();
        assert_eq!(text(ObjectHandle::NONE), "the reference is to no object: check `is_none` before using it");
        assert!(text(ObjectHandle::new(3, 9)).starts_with("object #3.9 is gone"));
    }

    #[test]
    fn an_error_of_a_script_crosses_as_what_it_is_and_sentences_name_the_calls() {
        let place = |line| ScriptPlace { function: "/Script/A.B:c".to_owned(), file: "B.uc".to_owned(), line };
        let in_script = |error, lines: std::ops::Range<u32>| CallError::InScript {
            error: Box::new(error),
            stack: lines.map(place).collect(),
        };
        let error = in_script(CallError::other("no luck"), 3..5);
        let told = "no luck\n    in /Script/A.B:c at B.uc:3\n    in /Script/A.B:c at B.uc:4";
        assert_eq!(error.to_string(), told);
        assert_eq!(CallError::from_failure(&error.to_failure()), CallError::other(told));
        let handle = ObjectHandle::new(3, 9);
        let stale = in_script(CallError::Stale { handle }, 3..4);
        assert_eq!(CallError::from_failure(&stale.to_failure()), CallError::Stale { handle });
        let deep = in_script(CallError::other("x"), 0..100).to_string();
        assert!(deep.contains("… 68 more") && deep.lines().count() == 34, "{deep}");
    }

    #[test]
    fn one_place_is_left_out_of_a_script_stack_of_thirty_three() {
        let place = |line| ScriptPlace { function: "/Script/A.B:c".to_owned(), file: "B.uc".to_owned(), line };
        let of = |places: u32| super::stack_lines(&(0..places).map(place).collect::<Vec<_>>());
        assert!(!of(32).contains("more") && of(32).contains("B.uc:16"), "{}", of(32));
        assert!(of(33).contains("… 1 more") && !of(33).contains("B.uc:16"), "{}", of(33));
    }

    #[test]
    fn a_panic_of_host_code_becomes_a_failure() {
        let failure = trap(|| -> Result<(), _> { panic!("no {}", 1) }).expect_err("it panics").to_failure();
        assert_eq!(failure.message.as_str(), "no 1");
        assert!(trap(|| Ok(1)).is_ok());
    }

    #[test]
    fn a_clean_call_has_no_error() {
        assert_eq!(from_module(|_| Status::OK), Ok(()));
    }
}
