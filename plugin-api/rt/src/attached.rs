//! The attachment of a module to its host, with the functions of the host. Written once, when the host attaches the module.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use alcedo_abi::call::FailureKind;
use alcedo_abi::host::{ModuleContext, Slices};

use crate::error::CallError;
use crate::outside::{Attachment, this_thread};

static ATTACHMENT: Attachment = Attachment::alone();

/// Number of the thread on which the module was attached; zero while no host is attached. A module with objects or values is attached on
/// the game thread.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// True if the module has no objects, and the host may therefore call it on any thread.
static IS_FREE: AtomicBool = AtomicBool::new(false);

/// Stores the context of the host and the number of this thread. Returns false if a host was attached before.
pub(crate) fn begin(context: &ModuleContext) -> bool {
    ATTACHMENT.attach(context, || {
        OWNER.store(this_thread(), Ordering::Relaxed);
        IS_FREE.store(context.directory.is_null(), Ordering::Relaxed);
    })
}

/// Clears the attachment. A detached module cannot be attached to a second host.
pub(crate) fn end() {
    ATTACHMENT.detach();
    OWNER.store(0, Ordering::Relaxed);
    ATTACHMENT.forget_words();
}

/// Returns the context of the host while the module is attached. Callable on any thread.
#[inline]
#[must_use]
pub fn context() -> Option<&'static ModuleContext> {
    ATTACHMENT.context()
}

/// Returns the host's counter of borrowed slices, and the number that identifies this module. Returns `None` if no host is attached, or if
/// the host has no counter.
#[must_use]
pub fn slices() -> Option<(&'static Slices, u64)> {
    ATTACHMENT.slices()
}

/// Returns true on the thread on which the module was attached. For a module with objects or values, this is the game thread. Does not
/// call the host.
#[inline]
#[must_use]
pub fn is_game_thread() -> bool {
    OWNER.load(Ordering::Relaxed) == this_thread()
}

/// Returns true if the module has no objects, so that the host may call it on any thread.
pub(crate) fn is_free() -> bool {
    IS_FREE.load(Ordering::Relaxed)
}

/// Returns true if this thread may call host functions directly: the game thread, or any thread of a module without objects.
#[inline]
#[must_use]
pub fn may_call_directly() -> bool {
    is_game_thread() || is_free()
}

/// Checks that the current stack is the stack of the game thread. A scope of objects may begin only on this stack, because a coroutine with
/// a separate stack could suspend inside the scope, which would then outlive the surrounding call. Callable on the game thread only.
/// Succeeds without a host.
///
/// # Errors
/// Fails with `WRONG_STACK` if the current stack is not the stack of the game thread.
#[inline]
pub fn may_open_scope(action: &str) -> Result<(), CallError> {
    match context() {
        Some(context) if !context.stack.is_here() => Err(CallError::new(FailureKind::WRONG_STACK, action)),
        _ => Ok(()),
    }
}

/// Returns the mode of the host, a constant of [`alcedo_abi::host::mode`]. Without a host, returns a number that differs from all these
/// constants. Costs two reads of rarely written memory. Callable on the game thread only, because the host frees the mode word on this
/// thread after it has detached the module.
#[inline]
#[must_use]
pub fn mode() -> u32 {
    ATTACHMENT.mode()
}

/// If `closed` is true, closes direct calls, for example while a slice of host memory is borrowed. If `closed` is false, opens direct calls
/// again. While direct calls are closed, [`direct_version`] returns `CLOSED`. Callable on the game thread only.
pub fn close_direct_calls(closed: bool) {
    ATTACHMENT.close_direct(closed);
}

/// Returns the version of direct calls, or [`CLOSED`](alcedo_abi::host_direct::CLOSED). Costs two reads, like [`mode`]. Callable only on
/// threads for which [`may_call_directly`] returns true. After the host has detached the module, it frees the version word on the game
/// thread, so another thread could read freed memory. For a module without objects, the host keeps the word while the module is mapped.
#[inline]
#[must_use]
pub fn direct_version() -> u64 {
    ATTACHMENT.direct()
}
