//! Records the thread on which a module is attached to its host, and checks on which threads and stacks code of the module may use the
//! host.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use alcedo_abi::call::FailureKind;
use alcedo_abi::host::ModuleContext;

use crate::error::CallError;
use crate::outside::{self, context, this_thread};

/// Number of the thread on which the module was attached; zero while no host is attached. A module with objects or values is attached on
/// the game thread.
static OWNER: AtomicUsize = AtomicUsize::new(0);

/// True if the module has no objects, and the host may therefore call it on any thread.
static IS_FREE: AtomicBool = AtomicBool::new(false);

/// Stores the context of the host and the number of this thread. Returns false if a host was attached before.
pub(crate) fn begin(context: &ModuleContext) -> bool {
    outside::attach(context, || {
        OWNER.store(this_thread(), Ordering::Relaxed);
        IS_FREE.store(context.directory.is_null(), Ordering::Relaxed);
    })
}

/// Clears the attachment. A detached module cannot be attached to a second host.
pub(crate) fn end() {
    outside::detach();
    OWNER.store(0, Ordering::Relaxed);
    outside::forget_words();
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

/// Checks that the current stack is the stack of the game thread. A scope that must nest, such as a red frame or a slice, may begin only on
/// this stack: a coroutine with a separate stack could suspend inside the scope, and the scope would then outlive the surrounding call.
/// Callable on the game thread only. Succeeds without a host.
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
