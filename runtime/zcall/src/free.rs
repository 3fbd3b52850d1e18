//! Calls by name that modules make which belong to no thread. The table of the game thread is not for them: each such
//! module is attached with its own way to what its context has.

use std::sync::atomic::AtomicU64;

use alcedo_abi::black_direct::DirectCallee;

use crate::border::CallError;
use crate::buffer::BufferMut;
use crate::handles::ZCallHandle;

/// What a module that belongs to no thread reaches by name. Any thread.
pub trait FreeCalls: Send + Sync {
    /// The handle of `name`; only the module that asked knows it. `fingerprint` is that of the caller's signature.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when the text is no name or leads nowhere, [`CallError::Signature`], and
    /// [`CallError::Unavailable`] when the context is gone.
    fn resolve(&self, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError>;

    /// Calls what `handle` stands for, on this thread.
    ///
    /// # Errors
    /// [`CallError::Unavailable`] once the context that has the function unloads; what the callee fails with.
    fn call(&self, handle: ZCallHandle, buffer: BufferMut<'_>) -> Result<(), CallError>;

    /// Returns the code behind `handle` for direct calls, of a function of the host whose signature has that fingerprint; none for other
    /// functions. Code and context stay as long as this.
    ///
    /// # Errors
    /// [`CallError::NotFound`] for another handle, [`CallError::Signature`] for another fingerprint.
    fn direct(&self, handle: ZCallHandle, fingerprint: u64) -> Result<DirectCallee, CallError>;

    /// Returns the word that the module compares before each direct call. [`CLOSED`](alcedo_abi::black_direct::CLOSED) once the host has
    /// ended.
    fn direct_word(&self) -> &AtomicU64;
}
