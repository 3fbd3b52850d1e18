//! The one attachment of a module to its host: who the host is, and which functions it offers. Written once, when
//! the module is attached.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use alcedo_abi::call::FailureKind;
use alcedo_abi::host::ModuleContext;

use crate::error::CallError;
use crate::outside::{Attachment, this_thread};

static ATTACHMENT: Attachment = Attachment::alone();

/// The thread that the module was attached on; zero while it is not. A module that has to do with objects or values is
/// attached on the game thread.
static HOME: AtomicUsize = AtomicUsize::new(0);

/// The module has to do with no objects, and so belongs to no thread.
static IS_FREE: AtomicBool = AtomicBool::new(false);

/// Keeps the context of the host and the number of this thread. Returns false if there was a host before.
pub(crate) fn begin(context: &ModuleContext) -> bool {
    ATTACHMENT.attach(context, || {
        HOME.store(this_thread(), Ordering::Relaxed);
        IS_FREE.store(context.directory.is_null(), Ordering::Relaxed);
    })
}

/// Forgets the host. No other can be attached afterwards.
pub(crate) fn end() {
    ATTACHMENT.detach();
    HOME.store(0, Ordering::Relaxed);
    ATTACHMENT.forget_words();
}

/// Returns the record of the host, while the module is attached. Any thread may call this.
#[inline]
#[must_use]
pub fn context() -> Option<&'static ModuleContext> {
    ATTACHMENT.context()
}

/// Checks that this is the thread that the module was attached on: the game thread, for a module with objects or values. No call to the
/// host.
#[inline]
#[must_use]
pub fn is_game_thread() -> bool {
    HOME.load(Ordering::Relaxed) == this_thread()
}

/// Checks that the module has to do with no objects, and so belongs to no thread.
pub(crate) fn is_free() -> bool {
    IS_FREE.load(Ordering::Relaxed)
}

/// Checks that functions of the host may be called directly on this thread: on the game thread, or on each one in a module that has to do
/// with no objects.
#[inline]
#[must_use]
pub fn may_call_directly() -> bool {
    is_game_thread() || is_free()
}

/// Checks that a scope of objects may open here: on the stack of the game thread, and on no stack of a coroutine, which could suspend
/// the scope and outlive the call around it. Game thread only. Passes without a host.
///
/// # Errors
/// `WRONG_STACK`.
#[inline]
pub fn may_open_scope(action: &str) -> Result<(), CallError> {
    match context() {
        Some(context) if !context.stack.is_here() => Err(CallError::new(FailureKind::WRONG_STACK, action)),
        _ => Ok(()),
    }
}

/// Returns the mode of the host, one of [`alcedo_abi::host::mode`]; without a host none of them. Two reads of memory that is hardly ever
/// written. Game thread only: the host detaches the module there, and the word of the mode ends then.
#[inline]
#[must_use]
pub fn mode() -> u32 {
    ATTACHMENT.mode()
}

/// Closes direct calls while a slice of host memory is lent, or opens them: [`direct_version`] is `CLOSED` in between. Game thread only.
pub fn close_direct_calls(closed: bool) {
    ATTACHMENT.close_direct(closed);
}

/// The version of what is called directly, or [`CLOSED`](alcedo_abi::black_direct::CLOSED): two looks, as for [`mode`]. Where
/// [`may_call_directly`] only, for the same reason; the word of a module that has to do with no objects stays as long as it is mapped.
#[inline]
#[must_use]
pub fn direct_version() -> u64 {
    ATTACHMENT.direct()
}
