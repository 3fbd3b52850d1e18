//! Calls by name from modules that are not bound to a thread. These modules do not use the game thread's table; each is attached
//! with its own access to its context.

use std::sync::atomic::AtomicU64;

use alcedo_abi::host_direct::DirectCallee;

use crate::boundary::CallError;
use crate::buffer::BufferMut;
use crate::handles::ZCallHandle;

/// Call interface of a module that is not bound to a thread. Any thread.
pub trait FreeCalls: Send + Sync {
    /// Resolves `name` to a handle that is valid only for this module. `fingerprint` is that of the caller's signature.
    ///
    /// # Errors
    /// [`CallError::NotFound`] if the string is not a name or does not resolve, [`CallError::Signature`], and
    /// [`CallError::Unavailable`] if the context has ended.
    fn resolve(&self, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError>;

    /// Calls the function of `handle` on this thread.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] once the context of the function is unloading; errors of the callee.
    fn call(&self, handle: ZCallHandle, buffer: BufferMut<'_>) -> Result<(), CallError>;

    /// Returns the code for direct calls of `handle` if it is a host function whose signature has that fingerprint. Code and
    /// context live as long as `self`.
    ///
    /// # Errors
    /// [`CallError::NotFound`] for another handle, [`CallError::Signature`] for another fingerprint.
    fn direct(&self, handle: ZCallHandle, fingerprint: u64) -> Result<DirectCallee, CallError>;

    /// Returns the version that the module compares before each direct call: [`CLOSED`](alcedo_abi::host_direct::CLOSED) once the
    /// host has ended.
    fn direct_word(&self) -> &AtomicU64;
}
