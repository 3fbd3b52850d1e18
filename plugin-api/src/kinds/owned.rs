//! A value in host memory that plugin code owns: made by the host, given back by `drop`, on whatever thread that is.
#![expect(unsafe_code, reason = "a host address that may change threads")]

use core::panic::Location;

use alcedo_abi::handles::BlackHandle;
use alcedo_abi::values::Black;
use alcedo_rt::CallError;

use super::Kind;
use crate::host;

/// A black value of any kind.
#[derive(Debug)]
pub struct Owned(Black);

// SAFETY: the address is followed only on the game thread, through frame-bound faces; elsewhere the value can only be
// moved and dropped, and the host takes it back on any thread.
unsafe impl Send for Owned {}
// SAFETY: as above: a shared reference off the game thread gives its handle and nothing more.
unsafe impl Sync for Owned {}

impl Owned {
    /// The value that zero bytes mean.
    pub(crate) fn zero<K: Kind>(site: &Location<'_>) -> Result<Self, CallError> {
        // SAFETY: null is allowed.
        unsafe { host::values::black_new::<K>(core::ptr::null(), site) }.map(Self)
    }

    /// A copy.
    ///
    /// # Safety
    /// `from` is a live value of kind `K`.
    pub(crate) unsafe fn copy_of<K: Kind>(from: *const K::Raw, site: &Location<'_>) -> Result<Self, CallError> {
        // SAFETY: promised by the caller.
        unsafe { host::values::black_new::<K>(from, site) }.map(Self)
    }

    /// Where it lies; only to be followed on the game thread.
    pub(crate) fn at<K: Kind>(&self) -> *mut K::Raw {
        self.0.at.cast()
    }

    /// Its handle.
    pub(crate) fn handle(&self) -> BlackHandle {
        self.0.handle
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        host::values::black_drop(self.0.handle);
    }
}

impl Owned {
    /// Whether nobody can use the value any more.
    pub(crate) fn is_expired(&self) -> bool {
        host::values::conjugate_state(self.0.handle.into()).is_none_or(|state| state.expired != 0)
    }
}
