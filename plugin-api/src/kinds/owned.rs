//! A value in host memory that plugin code owns: made by the host, given back by `drop`, on whatever thread that is. It is
//! known by its number alone, so one that has ended, with its generation for instance, can be distinguished from one
//! that is there.
#![expect(unsafe_code, reason = "has the word of the host where a value lies")]

use core::marker::PhantomData;
use core::panic::Location;

use alcedo_abi::handles::BlackHandle;
use alcedo_rt::CallError;

use super::{Kind, PtrMut, ValidityToken, verbs};
use crate::host;

/// A black value of the kind `K`. The type keeps values of different kinds apart: code that has an `Owned<K>` may make
/// a `K` of it, and nothing else.
pub struct Owned<K> {
    black: BlackHandle,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> Owned<K> {
    /// The value that zero bytes mean.
    pub(crate) fn zero(site: &Location<'_>) -> Result<Self, CallError> {
        verbs::black_new::<K>(None, site).map(Self::of)
    }

    /// A copy of another.
    pub(crate) fn clone_of(other: &Self, site: &Location<'_>) -> Result<Self, CallError> {
        host::conjugate_clone(other.black.into(), site).map(Self::of)
    }

    /// Where it lies: until plugin code gives it back, or control goes to the host.
    ///
    /// # Errors
    /// `EXPIRED`, with kind and age, when it has ended; `WRONG_THREAD` off the game thread; `UNAVAILABLE` without a host.
    #[inline]
    pub(crate) fn at(&self) -> Result<*mut K::Raw, CallError> {
        verbs::black_at::<K>(self.black)
    }

    /// Returns a pointer to the value, valid until the value is dropped or the host is called.
    ///
    /// # Errors
    /// See [`Owned::at`].
    #[inline]
    pub(crate) fn ptr(&self) -> Result<PtrMut<'_, K>, CallError> {
        // SAFETY: the host has just returned this address, on the game thread alone, and keeps the value there while this is
        // owned. The owner may write the value.
        Ok(unsafe { PtrMut::new(self.at()?) })
    }
}

impl<K> Owned<K> {
    /// What the host has made just now as a value of the kind.
    pub(crate) const fn of(black: BlackHandle) -> Self {
        Self { black, kind: PhantomData }
    }

    /// Its handle.
    pub(crate) fn handle(&self) -> BlackHandle {
        self.black
    }

    /// Whether the value can no longer be used.
    pub(crate) fn is_expired(&self) -> bool {
        host::conjugate_state(self.black.into()).is_none_or(|state| state.expired != 0)
    }
}

/// A value that zero bytes mean.
pub fn new_owned<K: Kind>(site: &Location<'_>) -> Result<K, CallError> {
    Owned::<K>::zero(site).map(K::from_owned)
}

/// Where a value of plugin code lies, and by what it is known that it still does: null, and never good, where it has ended.
/// Only in a frame.
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
