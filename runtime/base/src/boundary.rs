//! Helpers for errors and panics at the ABI boundary, used by all functions that plugin modules call or that call plugin modules. A plugin
//! module reports a failure as plain data, which these helpers convert to a [`CallError`]. The helpers also catch panics of host code, so
//! that no panic unwinds into the stack frames of a plugin module.

use std::mem::ManuallyDrop;

use alcedo_abi::call::{Failure, FailureKind, SourceLocation, Status};

use crate::handles::ObjectHandle;
use crate::panic_guard;

/// Location in source code.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::SourcePlace;
///
/// let place = SourcePlace { file: "race.rs".into(), line: 12, column: 5 };
/// assert_eq!(place.to_string(), "race.rs:12:5");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct SourcePlace {
    /// Path of the source file, as recorded by the compiler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl From<SourceLocation> for SourcePlace {
    fn from(SourceLocation { file, line, column }: SourceLocation) -> Self {
        Self { file: file.to_owned(), line, column }
    }
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Error of a call between host and module. Host and module continue to run after the error.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::CallError;
///
/// let error = CallError::Panicked { message: "no track".into(), place: None };
/// match &error {
///     CallError::Panicked { message, .. } => assert_eq!(message, "no track"),
///     other => panic!("unexpected: {other}"),
/// }
/// assert_eq!(error.to_string(), "panicked: \"no track\"");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallError {
    /// The callee panicked, and its own side (host or module) caught the panic.
    Panicked {
        /// Message of the panic.
        message: String,
        /// Location of the panic, if reported.
        place: Option<SourcePlace>,
    },
    /// The callee returned an error value, as its signature allows.
    Returned {
        /// Message of the error.
        message: String,
        /// Location in the function that returned the error. For an error of [`CallError::returned`], the location of the call of
        /// `returned`.
        place: Option<SourcePlace>,
    },
    /// The plugin part is borrowed by a method that has not returned.
    ReentrantBorrow {
        /// Object that owns the plugin part.
        object: ObjectHandle,
        /// Method that holds the borrow.
        held: String,
        /// Method that tried to borrow the plugin part.
        requested_by: String,
    },
    /// The object no longer exists.
    Stale {
        /// Handle of the object.
        handle: ObjectHandle,
    },
    /// The action is allowed on the game thread only.
    WrongThread {
        /// Rejected action.
        action: String,
    },
    /// The action opens a scope, which a coroutine must not do: a suspended coroutine would leave the scope open.
    WrongStack {
        /// Rejected action.
        action: String,
    },
    /// The action is not allowed before a reload commits, because a rollback could not undo it.
    DuringRebuild {
        /// Rejected action.
        action: String,
    },
    /// A name or path does not resolve.
    NotFound {
        /// Message with the name, the search location and help.
        message: String,
    },
    /// The module to which a call handle belongs has been unloaded. A new lookup of the name may return a valid handle.
    DeadHandle {
        /// Message with the handle and help.
        message: String,
    },
    /// A name does not resolve while no Master is loaded. A module of a Master may define the name.
    NoMaster {
        /// Message with the name, the search location and help.
        message: String,
    },
    /// Caller and callee have different signatures.
    Signature {
        /// Name of the function or property.
        name: String,
        /// Signature of the callee.
        found: String,
        /// Signature for which the caller was built.
        expected: String,
    },
    /// The object is not an instance of the required class.
    WrongClass {
        /// Property, parameter or function that rejects the object. May be empty.
        place: String,
        /// Handle of the object.
        handle: ObjectHandle,
        /// Class of the object.
        found: String,
        /// Expected class.
        expected: String,
    },
    /// The slots in the buffer of a ZCall do not match the call.
    Buffer {
        /// Message with the call, the slot, the content of the slot and the expected content.
        message: String,
    },
    /// The load context does not accept calls at this time.
    Unavailable {
        /// Name of the call or module.
        what: String,
    },
    /// The conjugate has expired: its red frame has closed, its generation has ended or is suspended, or the conjugate was returned to its
    /// owner.
    Expired {
        /// Color and kind of the conjugate, such as `red Array` or `black Array(f64)`.
        what: String,
        /// Time since the conjugate was created or borrowed, such as `3.2 s`.
        age: String,
    },
    /// Nested calls exceed a depth limit, or leave too little of the stack.
    TooDeep {
        /// Function that was called.
        what: String,
        /// Maximum depth of nested calls. If the stack was almost exhausted, this field contains the current depth instead.
        limit: u32,
    },
    /// The arguments or results of a call would exceed the memory limit. No memory was allocated for these values.
    TooLarge {
        /// Description of the value that exceeds the limit. If only the total size exceeds the limit, describes all values of the call.
        what: String,
        /// Required memory in bytes.
        bytes: u64,
        /// Allowed memory in bytes.
        limit: u64,
        /// Name of the host setting that specifies the limit.
        setting: String,
    },
    /// An action was rejected, because plugin code or a host thunk holds a borrowed slice of host memory.
    Borrowed {
        /// Message with the rejected action and help.
        message: String,
    },
    /// Error in a script, with the script's call stack.
    InScript {
        /// The error.
        error: Box<CallError>,
        /// Running script functions, innermost first.
        stack: Vec<ScriptPlace>,
    },
    /// Any other error.
    Other {
        /// The message.
        message: String,
    },
}

/// Current line of a running script function.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::ScriptPlace;
///
/// let place = ScriptPlace { function: "Game.Door.Open".into(), file: "Door.uc".into(), line: 7 };
/// assert_eq!(place.to_string(), "in Game.Door.Open at Door.uc:7");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptPlace {
    /// Path of the function.
    pub function: String,
    /// File name of the source.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

impl std::fmt::Display for ScriptPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "in {} at {}:{}", self.function, self.file, self.line)
    }
}

/// Number of stack frames that a message lists from each end of a long script call stack.
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

fn location_of(failure: &Failure) -> Option<SourcePlace> {
    let Failure { file, line, column, .. } = failure;
    (!file.is_empty()).then(|| SourcePlace { file: file.as_str().to_owned(), line: *line, column: *column })
}

fn too_deep(limit: u32) -> String {
    /// Minimum call depth that indicates a runaway recursion. If a call fails at a lower depth, the stack or the limit is too small.
    const FEW: u32 = 4;
    match limit {
        0..FEW => format!(
            "exceeds the stack or the limit of calls at depth {limit}: spawn the thread with a larger `stack_size`, or raise the limit"
        ),
        _ => format!("calls itself through other functions, {limit} deep: let one of them wait for the next tick"),
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InScript { error, stack } => write!(f, "{error}{}", stack_lines(stack)),
            error => write!(f, "{}", error.to_failure()),
        }
    }
}

impl std::error::Error for CallError {}

impl CallError {
    /// Creates an error that consists of a message.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    ///
    /// let error = CallError::other("the inventory is full");
    /// assert_eq!(error.to_string(), "the inventory is full");
    /// ```
    #[inline]
    pub fn other(message: impl Into<String>) -> Self {
        Self::Other { message: message.into() }
    }

    /// Creates the error for a function that returned the error value `error`. The location in the created error is the call of `returned`.
    ///
    /// Returns [`CallError::Panicked`] if `Display` or `Drop` of `error` panics.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    ///
    /// fn port(text: &str) -> Result<u16, CallError> {
    ///     text.parse::<u16>().map_err(|error| CallError::returned(error))
    /// }
    /// assert_eq!(port("80"), Ok(80));
    /// let error = port("eighty").expect_err("no number");
    /// assert!(error.to_string().starts_with("returned the error \"invalid digit found in string\" at "));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn returned(error: impl std::fmt::Display) -> Self {
        let place = std::panic::Location::caller();
        let place = SourcePlace { file: place.file().to_owned(), line: place.line(), column: place.column() };
        match panic_guard::formatted(error) {
            Ok(message) => Self::Returned { message, place: Some(place) },
            Err(message) => Self::Panicked { message, place: None },
        }
    }

    /// Returns the number that identifies the error kind in the ABI.
    ///
    /// # Examples
    /// ```
    /// use alcedo_abi::call::FailureKind;
    /// use alcedo_base::boundary::CallError;
    ///
    /// let error = CallError::NotFound { message: "no function `jump`".into() };
    /// assert!(error.kind() == FailureKind::NOT_FOUND);
    /// ```
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
            Self::Borrowed { .. } => FailureKind::BORROWED,
            Self::InScript { error, .. } => error.kind(),
            Self::Other { .. } => FailureKind::OTHER,
        }
    }

    /// Converts the error to ABI data. Transfers each field separately, so that an error remains unchanged if it passes through several
    /// modules.
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::boundary::CallError;
    /// use alcedo_base::handles::ObjectHandle;
    ///
    /// let error = CallError::Stale { handle: ObjectHandle::new(4, 2) };
    /// let failure = error.to_failure();
    /// assert_eq!(failure.object, ObjectHandle::new(4, 2));
    /// assert_eq!(CallError::from_failure(&failure), error);
    /// ```
    pub fn to_failure(&self) -> Failure {
        if let Self::InScript { error, stack } = self {
            // Transfers the fields of the inner error. If the message is a complete sentence, appends the call stack of the script to the
            // message.
            let mut failure = error.to_failure();
            let is_sentence = matches!(**error, Self::Panicked { .. } | Self::Returned { .. })
                || failure.message.as_str() == error.to_string();
            if is_sentence {
                failure.message = format!("{}{}", failure.message, stack_lines(stack)).into();
            }
            return failure;
        }
        let mut failure = Failure::new(self.kind(), "");
        match self {
            Self::Panicked { message, place } | Self::Returned { message, place } => {
                failure.message = message.as_str().into();
                if let Some(place) = place {
                    failure.file = place.file.as_str().into();
                    (failure.line, failure.column) = (place.line, place.column);
                }
            }
            Self::ReentrantBorrow { object, held, requested_by } => {
                failure.object = *object;
                (failure.held, failure.expected) = (held.as_str().into(), requested_by.as_str().into());
                failure.message = failure.to_string().into();
            }
            Self::Stale { handle } => {
                failure.object = *handle;
                failure.message = failure.to_string().into();
            }
            Self::WrongThread { action: text }
            | Self::WrongStack { action: text }
            | Self::DuringRebuild { action: text }
            | Self::Unavailable { what: text }
            | Self::NotFound { message: text }
            | Self::DeadHandle { message: text }
            | Self::NoMaster { message: text }
            | Self::Buffer { message: text }
            | Self::Borrowed { message: text }
            | Self::Other { message: text } => failure.message = text.as_str().into(),
            Self::Signature { name, found, expected } => {
                failure.message = name.as_str().into();
                (failure.held, failure.expected) = (found.as_str().into(), expected.as_str().into());
            }
            Self::WrongClass { place, handle, found, expected } => {
                failure.message = place.as_str().into();
                failure.object = *handle;
                (failure.held, failure.expected) = (found.as_str().into(), expected.as_str().into());
            }
            Self::TooDeep { what, limit } => {
                (failure.held, failure.line) = (what.as_str().into(), *limit);
                failure.message = format!("{what} {}", too_deep(*limit)).into();
            }
            Self::TooLarge { what, bytes, limit, setting } => {
                (failure.held, failure.expected) = (what.as_str().into(), setting.as_str().into());
                failure.file = format!("{bytes} {limit}").into();
                let most = format!("{what} would take {bytes} bytes, of {limit} that are allowed");
                failure.message = format!("{most}: reduce it, or raise `{setting}`").into();
            }
            Self::Expired { what, age } => {
                (failure.held, failure.expected) = (what.as_str().into(), age.as_str().into());
                failure.message = failure.to_string().into();
            }
            // `InScript` was converted above.
            Self::InScript { .. } => {}
        }
        failure
    }

    /// Converts ABI data to an error. Copies all strings, because the module that owns the strings may be unloaded later.
    pub fn from_failure(failure: &Failure) -> Self {
        let owned = |string: &abi_stable::std_types::RString| string.as_str().to_owned();
        let message = owned(&failure.message);
        match failure.kind {
            FailureKind::PANIC => Self::Panicked { message, place: location_of(failure) },
            FailureKind::RETURNED => Self::Returned { message, place: location_of(failure) },
            FailureKind::REENTRANT_BORROW => Self::ReentrantBorrow {
                object: failure.object,
                held: owned(&failure.held),
                requested_by: owned(&failure.expected),
            },
            FailureKind::STALE => Self::Stale { handle: failure.object },
            FailureKind::WRONG_THREAD => Self::WrongThread { action: message },
            FailureKind::WRONG_STACK => Self::WrongStack { action: message },
            FailureKind::DURING_REBUILD => Self::DuringRebuild { action: message },
            FailureKind::NOT_FOUND => Self::NotFound { message },
            FailureKind::DEAD_HANDLE => Self::DeadHandle { message },
            FailureKind::NO_MASTER => Self::NoMaster { message },
            FailureKind::SIGNATURE => {
                Self::Signature { name: message, found: owned(&failure.held), expected: owned(&failure.expected) }
            }
            FailureKind::WRONG_CLASS => Self::WrongClass {
                place: message,
                handle: failure.object,
                found: owned(&failure.held),
                expected: owned(&failure.expected),
            },
            FailureKind::BUFFER => Self::Buffer { message },
            FailureKind::BORROWED => Self::Borrowed { message },
            FailureKind::UNAVAILABLE => Self::Unavailable { what: message },
            FailureKind::TOO_DEEP => Self::TooDeep { what: owned(&failure.held), limit: failure.line },
            FailureKind::TOO_LARGE => {
                let (bytes, limit) = failure.file.as_str().split_once(' ').unwrap_or_default();
                let number = |digits: &str| digits.parse().unwrap_or_default();
                let (bytes, limit) = (number(bytes), number(limit));
                Self::TooLarge { what: owned(&failure.held), bytes, limit, setting: owned(&failure.expected) }
            }
            FailureKind::EXPIRED => Self::Expired { what: owned(&failure.held), age: owned(&failure.expected) },
            _ => Self::Other { message },
        }
    }
}

/// Runs a call into a module, and converts a failure to an error.
///
/// # Examples
/// ```
/// use alcedo_abi::call::Status;
/// use alcedo_base::boundary::{CallError, from_module};
///
/// assert_eq!(from_module(|_| Status::OK), Ok(()));
/// let failed = from_module(|failure| {
///     *failure = CallError::other("out of ammo").to_failure();
///     Status::FAILED
/// });
/// assert_eq!(failed, Err(CallError::other("out of ammo")));
/// ```
#[inline]
pub fn from_module(call: impl FnOnce(&mut Failure) -> Status) -> Result<(), CallError> {
    reported(call).map_err(|error| *error)
}

/// Variant of [`from_module`] for hot paths. The boxed error keeps the result small.
#[inline]
pub fn reported(call: impl FnOnce(&mut Failure) -> Status) -> Result<(), Box<CallError>> {
    // A successful call does not write `failure`. Dropping the empty failure would cost four function calls.
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

/// Runs host code and converts a panic to an error.
///
/// # Examples
/// ```
/// use alcedo_base::boundary::{CallError, catch_panics};
///
/// let loaded: Result<u32, CallError> = catch_panics(|| panic!("damaged save"));
/// assert_eq!(loaded, Err(CallError::Panicked { message: "damaged save".into(), place: None }));
/// assert_eq!(catch_panics(|| Ok(3)), Ok(3));
/// ```
#[inline]
pub fn catch_panics<T>(code: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
    catch_panics_as(code)
}

/// Variant of [`catch_panics()`] for code with the error type `E`.
#[inline]
pub fn catch_panics_as<T, E: From<CallError>>(code: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    panic_guard::caught(code).unwrap_or_else(|message| Err(panicked(message).into()))
}

/// Returns the [`CallError::Signature`] for a function or property `name` with type `found` instead of `expected`.
#[doc(hidden)]
#[cold]
pub fn mismatch(
    name: &dyn std::fmt::Display,
    found: &dyn std::fmt::Display,
    expected: &dyn std::fmt::Display,
) -> CallError {
    CallError::Signature { name: name.to_string(), found: found.to_string(), expected: expected.to_string() }
}

/// Returns the [`CallError::NotFound`] with this message.
#[doc(hidden)]
#[cold]
pub fn not_found(message: impl Into<String>) -> CallError {
    CallError::NotFound { message: message.into() }
}

#[cold]
fn panicked(message: String) -> CallError {
    CallError::Panicked { message, place: None }
}

#[cfg(test)]
mod tests {
    use super::{CallError, ScriptPlace, SourcePlace, catch_panics, from_module};
    use crate::handles::ObjectHandle;
    use alcedo_abi::call::Status;

    #[test]
    fn a_small_stack_is_not_reported_as_a_recursion() {
        let error = |limit| CallError::TooDeep { what: "Game.Foe:act".to_owned(), limit }.to_string();
        assert!(error(64).ends_with("64 deep: let one of them wait for the next tick"), "{}", error(64));
        let small = "Game.Foe:act exceeds the stack or the limit of calls at depth 1: spawn the thread with a larger \
                     `stack_size`, or raise the limit";
        assert_eq!(error(1), small);
    }

    #[test]
    fn every_error_is_the_same_error_on_the_other_side() {
        let handle = ObjectHandle::new(3, 9);
        let string = || "x".to_owned();
        for error in [
            CallError::Panicked { message: string(), place: Some(SourcePlace { file: string(), line: 1, column: 2 }) },
            CallError::Panicked { message: string(), place: None },
            CallError::returned("x"),
            CallError::Returned { message: string(), place: None },
            CallError::ReentrantBorrow { object: handle, held: string(), requested_by: "y".to_owned() },
            CallError::Stale { handle },
            CallError::WrongThread { action: string() },
            CallError::WrongStack { action: string() },
            CallError::DuringRebuild { action: string() },
            CallError::NotFound { message: string() },
            CallError::DeadHandle { message: string() },
            CallError::NoMaster { message: string() },
            CallError::Signature { name: string(), found: "y".to_owned(), expected: "z".to_owned() },
            CallError::WrongClass { place: "z".to_owned(), handle, found: string(), expected: "y".to_owned() },
            CallError::Buffer { message: string() },
            CallError::Unavailable { what: string() },
            CallError::Expired { what: string(), age: "y".to_owned() },
            CallError::TooDeep { what: string(), limit: 7 },
            CallError::TooLarge { what: string(), bytes: u64::MAX, limit: 1 << 40, setting: "y".to_owned() },
            CallError::Borrowed { message: string() },
            CallError::other("x"),
        ] {
            assert_eq!(CallError::from_failure(&error.to_failure()), error);
        }
    }

    #[test]
    fn the_error_of_a_null_reference_differs_from_a_destroyed_object() {
        let string = |handle| CallError::Stale { handle }.to_string();
        assert_eq!(string(ObjectHandle::NONE), "the reference is to no object: check `is_none` before using it");
        assert!(string(ObjectHandle::new(3, 9)).starts_with("object #3.9 is gone"));
    }

    #[test]
    fn script_errors_keep_their_kind_and_messages_list_the_calls() {
        let place = |line| ScriptPlace { function: "/Script/A.B:c".to_owned(), file: "B.uc".to_owned(), line };
        let in_script = |error, lines: std::ops::Range<u32>| CallError::InScript {
            error: Box::new(error),
            stack: lines.map(place).collect(),
        };
        let error = in_script(CallError::other("no luck"), 3..5);
        let expected = "no luck\n    in /Script/A.B:c at B.uc:3\n    in /Script/A.B:c at B.uc:4";
        assert_eq!(error.to_string(), expected);
        assert_eq!(CallError::from_failure(&error.to_failure()), CallError::other(expected));
        let handle = ObjectHandle::new(3, 9);
        let stale = in_script(CallError::Stale { handle }, 3..4);
        assert_eq!(CallError::from_failure(&stale.to_failure()), CallError::Stale { handle });
        let deep = in_script(CallError::other("x"), 0..100).to_string();
        assert!(deep.contains("… 68 more") && deep.lines().count() == 34, "{deep}");
    }

    #[test]
    fn a_script_stack_of_thirty_three_omits_one_call() {
        let place = |line| ScriptPlace { function: "/Script/A.B:c".to_owned(), file: "B.uc".to_owned(), line };
        let of = |count: u32| super::stack_lines(&(0..count).map(place).collect::<Vec<_>>());
        assert!(!of(32).contains("more") && of(32).contains("B.uc:16"), "{}", of(32));
        assert!(of(33).contains("… 1 more") && !of(33).contains("B.uc:16"), "{}", of(33));
    }

    #[test]
    fn a_panic_of_host_code_becomes_a_failure() {
        let failure = catch_panics(|| -> Result<(), _> { panic!("no {}", 1) }).expect_err("it panics").to_failure();
        assert_eq!(failure.message.as_str(), "no 1");
        assert!(catch_panics(|| Ok(1)).is_ok());
    }

    #[test]
    fn a_clean_call_has_no_error() {
        assert_eq!(from_module(|_| Status::OK), Ok(()));
    }
}
