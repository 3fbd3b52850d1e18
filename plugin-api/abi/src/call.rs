//! Data of one call across the ABI boundary: its arguments, and its failure as plain data.

use core::fmt;

use abi_stable::StableAbi;
use abi_stable::std_types::RString;

use crate::handles::ObjectHandle;

/// Status of a call. For all values except [`Status::OK`], the callee has filled the [`Failure`].
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Status(pub u8);

impl Status {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The call failed; see the failure.
    pub const FAILED: Self = Self(1);
}

/// Kind of a [`Failure`].
///
/// # Examples
/// ```
/// use alcedo_abi::call::FailureKind;
///
/// fn is_about_an_object(kind: FailureKind) -> bool {
///     matches!(kind, FailureKind::STALE | FailureKind::WRONG_CLASS | FailureKind::REENTRANT_BORROW)
/// }
/// assert!(is_about_an_object(FailureKind::STALE));
/// assert!(!is_about_an_object(FailureKind::WRONG_THREAD));
/// ```
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FailureKind(pub u32);

impl FailureKind {
    /// No failure.
    pub const NONE: Self = Self(0);
    /// The callee panicked; message and location are those of the panic.
    pub const PANIC: Self = Self(1);
    /// A plugin part is already borrowed; `held` and `expected` name the methods.
    pub const REENTRANT_BORROW: Self = Self(2);
    /// A handle of a destroyed object.
    pub const STALE: Self = Self(3);
    /// The call is not on the game thread.
    pub const WRONG_THREAD: Self = Self(4);
    /// A write, spawn or bind while conjugates are being rebuilt.
    pub const DURING_REBUILD: Self = Self(5);
    /// An unknown name.
    pub const NOT_FOUND: Self = Self(6);
    /// Caller and callee have different signatures.
    pub const SIGNATURE: Self = Self(7);
    /// The object has a different class than expected.
    pub const WRONG_CLASS: Self = Self(8);
    /// The slots of the buffer do not match the signature.
    pub const BUFFER: Self = Self(9);
    /// The module or its context cannot accept calls now.
    pub const UNAVAILABLE: Self = Self(10);
    /// Any other failure; see the message.
    pub const OTHER: Self = Self(11);
    /// An expired conjugate; `held` is its color and kind, `expected` its age.
    pub const EXPIRED: Self = Self(12);
    /// A call to the host while the module holds a slice of host memory.
    pub const BORROWED: Self = Self(13);
    /// Nested calls exceed the host's limit; `line` is the limit.
    pub const TOO_DEEP: Self = Self(14);
    /// The handle of a call whose module has ended.
    pub const DEAD_HANDLE: Self = Self(15);
    /// An unknown name while no Master context exists.
    pub const NO_MASTER: Self = Self(16);
    /// The function completed and returned an error of the plugin author; message and location are those of the error.
    pub const RETURNED: Self = Self(17);
    /// A scope was opened on the stack of a coroutine; the message names the scope.
    pub const WRONG_STACK: Self = Self(19);
    /// Values would exceed their memory limit. `held` names the values, and `expected` the setting of the limit. `file` contains
    /// the requested bytes and the limit, separated by a space.
    pub const TOO_LARGE: Self = Self(18);
}

/// A failure as data. The receiver copies the failure before the module that created the failure is unloaded.
///
/// # Examples
/// ```
/// use alcedo_abi::call::{Failure, FailureKind};
///
/// let failure = Failure { line: 4, file: "src/lib.rs".into(), ..Failure::new(FailureKind::PANIC, "no wheels") };
/// assert_eq!(failure.message.as_str(), "no wheels");
/// assert_eq!(Failure::none().kind, FailureKind::NONE);
/// ```
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Failure {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Line of the location, or zero.
    pub line: u32,
    /// Column of the location, or zero.
    pub column: u32,
    /// Object concerned, or none.
    pub object: ObjectHandle,
    /// Message.
    pub message: RString,
    /// Source file of the location, or empty.
    pub file: RString,
    /// For a borrow: the method that holds the borrow. For a signature: the signature of the callee.
    pub held: RString,
    /// For a borrow: the method that requested the borrow. For a signature: the signature that the caller expects.
    pub expected: RString,
}

impl Failure {
    /// Returns the empty failure.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            kind: FailureKind::NONE,
            line: 0,
            column: 0,
            object: ObjectHandle::NONE,
            message: RString::new(),
            file: RString::new(),
            held: RString::new(),
            expected: RString::new(),
        }
    }

    /// Creates a failure of `kind` with its message.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<RString>) -> Self {
        Self { kind, message: message.into(), ..Self::none() }
    }
}

/// Formats the failure as the same sentence in hosts and plugins.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, line, column, .. } = self;
        let texts = [&self.message, &self.file, &self.held, &self.expected];
        let [message, file, held, expected] = texts.map(RString::as_str);
        match self.kind {
            kind @ (FailureKind::PANIC | FailureKind::RETURNED) => {
                let did = if kind == FailureKind::PANIC { "panicked:" } else { "returned the error" };
                write!(f, "{did} \"{message}\"")?;
                if file.is_empty() { Ok(()) } else { write!(f, " at {file}:{line}:{column}") }
            }
            FailureKind::REENTRANT_BORROW => write!(
                f,
                "{object}: `{expected}` needs the plugin part while `{held}` holds it: in `{held}`, with `&mut self`, write \
                 `this.lend(self, |this| this.{expected}(…))`"
            ),
            FailureKind::STALE if object.is_none() => {
                f.write_str("the reference is to no object: check `is_none` before using it")
            }
            FailureKind::STALE => {
                write!(f, "object {object} is gone: check `is_expired` before using a stored handle")
            }
            FailureKind::WRONG_THREAD => {
                write!(f, "{message} is for the game thread only: off it a module can finalize, post and log")
            }
            FailureKind::WRONG_STACK => write!(
                f,
                "{message} is refused on the stack of a coroutine, which could suspend it and outlive the call around it: let \
                 the coroutine yield its request, and do it where the coroutine is resumed"
            ),
            FailureKind::DURING_REBUILD => write!(
                f,
                "{message} is refused before the commit: until then new code may read anything, write only what it is \
                 building, and call only its own and what is declared pure; `task::post` the rest, which runs after the \
                 commit, or never"
            ),
            FailureKind::SIGNATURE => {
                write!(
                    f,
                    "{message} has the signature ({held}), the caller was built for ({expected}): rebuild the caller"
                )
            }
            FailureKind::WRONG_CLASS => {
                let colon = if message.is_empty() { "" } else { ": " };
                write!(f, "{message}{colon}object {object} is a {held}, not a {expected}")
            }
            FailureKind::UNAVAILABLE => {
                write!(f, "{message} is not available: its generation is over or is being replaced")
            }
            FailureKind::EXPIRED => {
                write!(f, "a {held} from {expected} ago has expired: to keep a value beyond its call, use `to_owned()`")
            }
            _ => f.write_str(message),
        }
    }
}

/// Location of a function in the plugin author's sources. Does not cross the ABI boundary.
#[derive(Clone, Copy, Debug)]
pub struct SourceLocation {
    /// Source file.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// A call of a reflected function or of a hook of a plugin part.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Call<'a> {
    /// Object of the call, or none for a static function.
    pub object: ObjectHandle,
    /// Memory of the object, valid during the call; null for a static function.
    pub memory: *mut u8,
    /// Plugin part of the class that declares the function; null if there is none.
    pub part: *mut (),
    /// Parameter block in the layout of the function's description, with the result last; null if empty. For a function with the
    /// flag `CUSTOM_THUNK`, contains the number of the call's frame instead of an address; `memory` and `part` are then null.
    pub params: *mut u8,
    /// Filled if the call fails.
    pub failure: &'a mut Failure,
}

/// Body of a reflected function in a module.
///
/// # Safety
/// `call` contains a live object of the class, the object's memory, the part that this module created for the object, and a
/// parameter block of the described layout. The object, its memory, the part and the block stay valid until the function
/// returns. Until then the caller does not use them.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Invoke(pub unsafe extern "C" fn(call: &mut Call<'_>) -> Status);
