//! A value in host memory that plugin code owns: made by the host, given back by `drop`, on whatever thread that is.
#![expect(unsafe_code, reason = "a host address that may change threads")]

use core::marker::PhantomData;
use core::panic::Location;

use alcedo_abi::handles::BlackHandle;
use alcedo_abi::values::Black;
use alcedo_rt::CallError;

use super::Kind;
use crate::host;

/// A black value of the kind `K`. The type keeps values of different kinds apart: whoever has an `Owned<K>` may make a `K`
/// of it, and nothing else.
pub struct Owned<K> {
    black: Black,
    kind: PhantomData<fn() -> K>,
}

// SAFETY: the address is followed only on the game thread, through frame-bound faces; elsewhere the value can only be
// moved and dropped, and the host takes it back on any thread.
unsafe impl<K> Send for Owned<K> {}
// SAFETY: as above: a shared reference off the game thread gives its handle and nothing more.
unsafe impl<K> Sync for Owned<K> {}

impl<K: Kind> Owned<K> {
    /// The value that zero bytes mean.
    pub(crate) fn zero(site: &Location<'_>) -> Result<Self, CallError> {
        // SAFETY: null is allowed.
        unsafe { host::values::black_new::<K>(core::ptr::null(), site) }.map(Self::of)
    }

    /// A copy.
    ///
    /// # Safety
    /// `from` is a live value of kind `K`.
    pub(crate) unsafe fn copy_of(from: *const K::Raw, site: &Location<'_>) -> Result<Self, CallError> {
        // SAFETY: promised by the caller.
        unsafe { host::values::black_new::<K>(from, site) }.map(Self::of)
    }

    /// Where it lies; only to be followed on the game thread.
    pub(crate) fn at(&self) -> *mut K::Raw {
        self.black.at.cast()
    }
}

impl<K> Owned<K> {
    fn of(black: Black) -> Self {
        Self { black, kind: PhantomData }
    }

    /// Its handle.
    pub(crate) fn handle(&self) -> BlackHandle {
        self.black.handle
    }

    /// Whether nobody can use the value any more.
    pub(crate) fn is_expired(&self) -> bool {
        host::values::conjugate_state(self.black.handle.into()).is_none_or(|state| state.expired != 0)
    }
}

impl<K> Drop for Owned<K> {
    fn drop(&mut self) {
        host::values::black_drop(self.black.handle);
    }
}

impl<K> core::fmt::Debug for Owned<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Owned").field(&self.black.handle).finish()
    }
}
