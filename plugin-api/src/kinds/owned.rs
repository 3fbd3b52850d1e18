//! Owned value in host memory. The host creates the value, and frees it when the `Owned` is dropped on any thread. An `Owned` contains only
//! the number of the value, by which the host detects that the value was already destroyed, for example with an earlier generation.

use core::marker::PhantomData;
use core::panic::Location;

use alcedo_abi::handles::BlackHandle;
use alcedo_rt::CallError;

use super::{Kind, ValidityToken, verbs};
use crate::host;

/// Black value of kind `K`. The type parameter keeps kinds apart: only a `K` can wrap an `Owned<K>`.
pub struct Owned<K> {
    black: BlackHandle,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Owned<K> {
    /// Creates a value whose bytes are all zero.
    pub(crate) fn zero(site: &Location<'_>) -> Result<Self, CallError> {
        verbs::black_new::<K>(None, site).map(Self::of)
    }

    pub(crate) fn clone_of(other: &Self, site: &Location<'_>) -> Result<Self, CallError> {
        host::conjugate_clone(other.black.into(), site).map(Self::of)
    }

    /// Returns the address of the value, valid until the value is dropped or the host is called.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value was destroyed, with `WRONG_THREAD` on threads except the game thread, or with `UNAVAILABLE`
    /// without a host.
    #[inline]
    pub(crate) fn at(&self) -> Result<*mut K::Raw, CallError> {
        verbs::black_at::<K>(self.black)
    }
}

impl<K> Owned<K> {
    /// Creates the owner of a value that the host has just created with kind `K`.
    pub(crate) const fn of(black: BlackHandle) -> Self {
        Self { black, kind: PhantomData }
    }

    pub(crate) fn handle(&self) -> BlackHandle {
        self.black
    }

    /// Returns `true` if the value has expired.
    pub(crate) fn is_expired(&self) -> bool {
        host::conjugate_state(self.black.into()).is_none_or(|state| state.expired != 0)
    }
}

/// Creates an owned value whose bytes are all zero.
pub fn new_owned<K: Kind>(site: &Location<'_>) -> Result<K, CallError> {
    Owned::<K>::zero(site).map(K::from_owned)
}

/// Returns the address of an owned value and a token that is valid while the value is alive. For a destroyed value, returns null and a
/// token that is never valid. Callable on the game thread only.
#[inline]
pub(crate) fn seen<'f, K: Kind>(black: BlackHandle) -> (*mut K::Raw, ValidityToken<'f>) {
    match verbs::black_seen::<K>(black) {
        Some((at, ends)) => (at, ValidityToken::of_black(black, ends)),
        None => (core::ptr::null_mut(), ValidityToken::of_ended(black)),
    }
}

impl<K> Drop for Owned<K> {
    fn drop(&mut self) {
        host::black_drop(self.black);
    }
}

impl<K> core::fmt::Debug for Owned<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Owned").field(&self.black).finish()
    }
}
