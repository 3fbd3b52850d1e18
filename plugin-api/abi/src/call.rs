//! Data of one call across the ABI boundary: the arguments, and, if the call fails, the failure as plain data.

use core::fmt;

use abi_stable::StableAbi;
use abi_stable::std_types::RString;

use crate::handles::ObjectHandle;

/// Status of a call. The callee fills the [`Failure`] for every status except [`Status::OK`].
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Status(pub u8);

impl Status {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The call failed; the [`Failure`] describes the error.
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
    /// The callee panicked; the failure contains the message and the location of the panic.
    pub const PANIC: Self = Self(1);
    /// The plugin part is already borrowed. `held` names the method that holds the borrow, and `expected` the method that requested one.
    pub const REENTRANT_BORROW: Self = Self(2);
    /// The handle refers to a destroyed object.
    pub const STALE: Self = Self(3);
    /// The caller does not run on the game thread.
    pub const WRONG_THREAD: Self = Self(4);
    /// The caller requested a write, a spawn or a binding while a reload rebuilds conjugates.
    pub const DURING_REBUILD: Self = Self(5);
    /// The name is unknown.
    pub const NOT_FOUND: Self = Self(6);
    /// Caller and callee have different signatures.
    pub const SIGNATURE: Self = Self(7);
    /// The class of the object is not the expected class.
    pub const WRONG_CLASS: Self = Self(8);
    /// The slots of the call buffer do not match the signature.
    pub const BUFFER: Self = Self(9);
    /// The module or its context cannot accept calls now.
    pub const UNAVAILABLE: Self = Self(10);
    /// Any other failure, described by the message.
    pub const OTHER: Self = Self(11);
    /// The conjugate has expired. `held` contains the color and kind of the conjugate, and `expected` contains the age.
    pub const EXPIRED: Self = Self(12);
    /// The module called the host while the module held a slice of host memory.
    pub const BORROWED: Self = Self(13);
    /// The nested calls exceed the host's limit. `line` contains the limit.
    pub const TOO_DEEP: Self = Self(14);
    /// The call handle belongs to a module whose generation has ended.
    pub const DEAD_HANDLE: Self = Self(15);
    /// The name is unknown, and no Master context exists that could define it.
    pub const NO_MASTER: Self = Self(16);
    /// The function completed and returned the plugin author's error; the failure contains the message and the location of this error.
    pub const RETURNED: Self = Self(17);
    /// A scope that must nest, such as a red frame or a slice, was opened on the stack of a coroutine. The message names the scope.
    pub const WRONG_STACK: Self = Self(19);
    /// The values would exceed their memory limit. `held` names the values, and `expected` names the setting that contains the limit.
    /// `file` contains the number of requested bytes and the limit, separated by a space.
    pub const TOO_LARGE: Self = Self(18);
}

/// A failure as data. The receiver must copy the failure before the module that created it is unloaded.
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
    /// Source line, or zero if unknown.
    pub line: u32,
    /// Source column, or zero if unknown.
    pub column: u32,
    /// Object that the failure concerns, or [`ObjectHandle::NONE`].
    pub object: ObjectHandle,
    /// Error message.
    pub message: RString,
    /// Source file, or empty if unknown.
    pub file: RString,
    /// For a borrow conflict, the method that holds the borrow. For a signature mismatch, the callee's signature.
    pub held: RString,
    /// For a borrow conflict, the method that requested the borrow. For a signature mismatch, the signature that the caller expects.
    pub expected: RString,
}

impl Failure {
    /// Returns a failure of kind [`FailureKind::NONE`] with empty strings.
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

/// Formats a failure. Hosts and plugins both use this code, so their messages have the same wording.
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
                write!(f, "{message} is for the game thread only: on other threads a module can finalize, post and log")
            }
            FailureKind::WRONG_STACK => write!(
                f,
                "{message} is refused on the stack of a coroutine, which could suspend it and outlive the call around it: let \
                 the coroutine yield its request, and do it where the coroutine is resumed"
            ),
            FailureKind::DURING_REBUILD => write!(
                f,
                "{message} is refused before the commit: until then new code may read all values, write only the object \
                 that it builds, and call only its own functions and pure functions; pass the rest to `task::post`, which runs \
                 it after the commit"
            ),
            FailureKind::SIGNATURE => {
                write!(
                    f,
                    "{message} has the signature ({held}), the caller was built for ({expected}): rebuild or correct \
                     the caller"
                )
            }
            FailureKind::WRONG_CLASS => {
                let colon = if message.is_empty() { "" } else { ": " };
                write!(f, "{message}{colon}object {object} is a {held}, not a {expected}")
            }
            FailureKind::UNAVAILABLE => {
                write!(f, "{message} is not available: it does not exist yet, is being built or replaced, or has ended")
            }
            FailureKind::EXPIRED => {
                write!(f, "a {held} from {expected} ago has expired: to keep a value beyond its call, use `to_owned()`")
            }
            _ => f.write_str(message),
        }
    }
}

/// Location of a function in the plugin author's source code. Does not cross the ABI boundary.
#[derive(Clone, Copy, Debug)]
pub struct SourceLocation {
    /// Source file.
    pub file: &'static str,
    /// Line number, from 1.
    pub line: u32,
    /// Column number, from 1.
    pub column: u32,
}

/// Arguments of a call to a reflected function or to a hook of a plugin part.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Call<'a> {
    /// Object on which the function is called, or none for a static function.
    pub object: ObjectHandle,
    /// Memory of the object, valid during the call; null for a static function.
    pub memory: *mut u8,
    /// Plugin part of the class that declares the function, or null.
    pub part: *mut (),
    /// Parameter block in the layout of the function's description, with the result last. Null for a function with neither parameters nor
    /// result. For a function with the flag `CUSTOM_THUNK`, this field contains the number of the call's frame instead of an address, and
    /// `memory` and `part` are null. For a red constructor, null or the address of a [`PackedKept`].
    pub params: *mut u8,
    /// The callee fills this failure if the call fails.
    pub failure: &'a mut Failure,
}

/// Packed kept fields that a red constructor restores, at the address in [`Call::params`]. A module of an older version ignores them.
///
/// The layout of this struct never changes, because [`crate::LAYOUT_HASH`] does not contain it.
#[repr(C)]
#[derive(Debug)]
pub struct PackedKept {
    /// First byte. An earlier build of the class, whose kept fields are equal, has written the bytes.
    pub data: *const u8,
    /// Number of bytes.
    pub len: usize,
    /// Set to one by a red constructor that has restored all kept fields of its class. Otherwise, the caller restores the fields.
    pub restored: u8,
}

// Rejects a change of the layout, because older modules cannot detect such a change.
const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<PackedKept>() == 3 * size_of::<usize>());
    assert!(offset_of!(PackedKept, len) == size_of::<usize>());
    assert!(offset_of!(PackedKept, restored) == 2 * size_of::<usize>());
};

impl PackedKept {
    /// Returns a record for these bytes, which must exist while a red constructor uses the record.
    #[must_use]
    #[inline]
    pub const fn new(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len(), restored: 0 }
    }
}

/// Body of a reflected function in a module.
///
/// # Safety
/// `call` contains a live object of the class that declares the function, the object's memory, the plugin part that this module created for
/// the object, and a parameter block of the described layout. Object, memory, part and block remain valid until the function returns. The
/// caller accesses none of them before the function returns.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Invoke(pub unsafe extern "C" fn(call: &mut Call<'_>) -> Status);

#[cfg(test)]
mod tests {
    use super::{Failure, FailureKind};

    #[test]
    fn the_text_of_unavailable_states_no_single_cause() {
        let text = |message: &str| Failure::new(FailureKind::UNAVAILABLE, message).to_string();
        let causes = "does not exist yet, is being built or replaced, or has ended";
        for message in ["the runtime", "the Rust fields of #1.2 for /Script/Game.Hero, which are being built,"] {
            assert_eq!(text(message), format!("{message} is not available: it {causes}"));
        }
    }
}
