//! Calls by name from modules that are not bound to the game thread. Such a module does not use the call table of the game thread, but has
//! its own access to the functions of its load context.

use std::sync::atomic::AtomicU64;

use alcedo_abi::host_direct::DirectCallee;

use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::handles::ZCallHandle;

/// Call interface of a module that is not bound to the game thread. Callable on any thread.
pub trait FreeCalls: Send + Sync {
    /// Resolves `name` to a handle that is valid only for this module. `fingerprint` is the fingerprint of the caller's signature.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the string is not a valid name or does not resolve. Returns [`CallError::Signature`] if the
    /// fingerprints differ. Returns [`CallError::Unavailable`] if the context has ended.
    fn resolve(&self, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError>;

    /// Calls the function of `handle` on the current thread.
    ///
    /// # Errors
    /// Returns [`CallError::Unavailable`] if the load context of the function is unloading, or the error of the callee.
    fn call(&self, handle: ZCallHandle, buffer: BufferMut<'_>) -> Result<(), CallError>;

    /// Returns the code for direct calls of `handle`. The handle must refer to a host function, and the fingerprint of its signature must
    /// equal `fingerprint`. The code and its context are valid as long as `self` exists.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the handle has no code for direct calls. Returns [`CallError::Signature`] if the fingerprints
    /// differ.
    fn direct(&self, handle: ZCallHandle, fingerprint: u64) -> Result<DirectCallee, CallError>;

    /// Returns the version of direct calls. Before each direct call, the module compares this version with the version in its cached
    /// [`DirectCallee`]. After the host has ended, the version is [`CLOSED`](alcedo_abi::host_direct::CLOSED).
    fn direct_word(&self) -> &AtomicU64;
}
