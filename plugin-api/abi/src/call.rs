//! One call over the border: what goes in, and how a failure comes out as plain data.

use abi_stable::StableAbi;
use abi_stable::std_types::RString;

use crate::handles::ObjectHandle;

/// Whether a call did its work. Anything but [`Status::OK`] comes with a filled [`Failure`].
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub struct Status(pub u8);

impl Status {
    /// It did.
    pub const OK: Self = Self(0);
    /// It did not; the failure says why.
    pub const FAILED: Self = Self(1);
}

/// What sort of failure a [`Failure`] tells of.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FailureKind(pub u32);

impl FailureKind {
    /// Nothing failed.
    pub const NONE: Self = Self(0);
    /// Code panicked; message and place are the panic's.
    pub const PANIC: Self = Self(1);
    /// A plugin part was borrowed already; `held` and `wanted` name the methods.
    pub const REENTRANT_BORROW: Self = Self(2);
    /// A handle whose object is gone.
    pub const STALE: Self = Self(3);
    /// Not the game thread.
    pub const WRONG_THREAD: Self = Self(4);
    /// A write, spawn or bind while conjugates are being rebuilt.
    pub const DURING_REBUILD: Self = Self(5);
    /// A name that leads nowhere.
    pub const NOT_FOUND: Self = Self(6);
    /// Two sides disagree on a signature.
    pub const SIGNATURE: Self = Self(7);
    /// An object of another class than asked for.
    pub const WRONG_CLASS: Self = Self(8);
    /// A buffer with the wrong slots.
    pub const BUFFER: Self = Self(9);
    /// The module or its context cannot take calls now.
    pub const UNAVAILABLE: Self = Self(10);
    /// Anything else; the message says it.
    pub const OTHER: Self = Self(11);
    /// A conjugate that has expired; `held` says its color and kind, `wanted` its age.
    pub const EXPIRED: Self = Self(12);
    /// A call to the host while the module holds a slice of host memory.
    pub const LENT: Self = Self(13);
    /// Calls inside each other that go deeper than the host lets them; `line` is how deep they may.
    pub const TOO_DEEP: Self = Self(14);
    /// The handle of a call whose module is over.
    pub const DEAD_HANDLE: Self = Self(15);
    /// A name that leads nowhere while there is no Master.
    pub const NO_MASTER: Self = Self(16);
    /// The function ran to its end and gave an error of its author's back; message and place are that error's.
    pub const RETURNED: Self = Self(17);
    /// A scope that is opened on the stack of a coroutine; the message says which.
    pub const WRONG_STACK: Self = Self(19);
    /// Values that would take more memory than they may: `held` says which, `wanted` the setting that limits them, `file` the bytes
    /// asked for and the limit, with a space between.
    pub const TOO_LARGE: Self = Self(18);
}

/// A failure as data. The receiver copies it before the module that made it goes.
#[repr(C)]
#[derive(StableAbi, Clone, Debug)]
pub struct Failure {
    /// What sort of failure.
    pub kind: FailureKind,
    /// Line of the place, or zero.
    pub line: u32,
    /// Column of the place, or zero.
    pub column: u32,
    /// The object concerned, or none.
    pub object: ObjectHandle,
    /// The sentence.
    pub message: RString,
    /// Source file of the place, or empty.
    pub file: RString,
    /// For a borrow: the method that holds it. For a signature: what the one side has.
    pub held: RString,
    /// For a borrow: the method that wanted it. For a signature: what the other side has.
    pub wanted: RString,
}

impl Failure {
    /// No failure yet.
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
            wanted: RString::new(),
        }
    }

    /// A failure of `kind` with its sentence.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<RString>) -> Self {
        Self { kind, message: message.into(), ..Self::none() }
    }
}

/// One call of a reflected function or of a hook of a plugin part.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct Call<'a> {
    /// The object called, or none for a static function.
    pub object: ObjectHandle,
    /// Its memory, valid while the call lasts; null for a static function.
    pub memory: *mut u8,
    /// The plugin part of the class that declares the function; null where there is none.
    pub part: *mut (),
    /// The parameter block, laid out as the function's description says, result last; null without any. Of a function with
    /// the flag `CUSTOM_THUNK` it is no address but the number of the call's frame, and memory and part are null.
    pub params: *mut u8,
    /// Filled when the call fails.
    pub failure: &'a mut Failure,
}

/// A reflected function's body in a module.
///
/// # Safety
/// `call` names a living object of the class, its memory, the part this module made for it, and a parameter
/// block of the described layout; all stay valid and otherwise untouched by the caller until it returns.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Invoke(pub unsafe extern "C" fn(call: &mut Call<'_>) -> Status);
