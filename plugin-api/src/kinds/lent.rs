//! The view of a value in host memory, for the length of a call.
#![expect(unsafe_code, reason = "follows addresses in host memory after it has asked whether they are right")]

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::Location;

use alcedo_abi::values::ValuePlace;
use alcedo_rt::CallError;

use super::into_host::{IntoHost, with_raw};
use super::lending::Access;
use super::{AnyConjugate, Kind, Owned, ValidityToken};
use crate::host;

/// A value of kind `K` in host memory, as the running call `'f` sees it: a property, a parameter, an element, or a value
/// that plugin code owns and has opened with `this.open(&…)`.
///
/// It cannot leave the call: not into a field, not into a thread, not into a task. To keep the value, take a
/// [`clone`](Self::clone). Verbs that may be refused (a write while a reload rebuilds, an element whose container has
/// changed) fail the running call with a typed error; their twins that begin with `try_` return it.
#[repr(C)]
pub struct Lent<'f, K: Kind> {
    // A raw pointer, which also keeps the view on its thread.
    at: *mut K::Raw,
    token: ValidityToken<'f>,
    kind: PhantomData<fn(K) -> K>,
}

impl<'f, K: Kind> Lent<'f, K> {
    /// # Safety
    /// `at` is a live value of kind `K` as long as `token` is good, and the game thread's for `'f`.
    pub(crate) unsafe fn new(at: *mut K::Raw, token: ValidityToken<'f>) -> Self {
        Self { at, token, kind: PhantomData }
    }

    /// Where the value lies, after a look whether it still does.
    #[inline]
    pub(crate) fn raw(&self) -> Result<*const K::Raw, CallError> {
        self.token.check(Access::Read, K::TYPE.as_str())?;
        Ok(self.at)
    }

    /// The same for a write straight to memory.
    #[inline]
    pub(crate) fn raw_mut(&self) -> Result<*mut K::Raw, CallError> {
        self.token.check(Access::Write, K::TYPE.as_str())?;
        if !self.token.owner().is_none() {
            host::may_write(self.token.owner(), K::NAMES_OBJECTS)?;
        }
        Ok(self.at)
    }

    /// The same for a change that the host makes, who asks whether the owner may be written.
    #[inline]
    pub(crate) fn place(&self) -> Result<ValuePlace, CallError> {
        self.token.check(Access::Write, K::TYPE.as_str())?;
        host::values::place::<K>(self.token.owner(), self.at)
    }

    #[inline]
    pub(crate) fn token(&self) -> ValidityToken<'f> {
        self.token
    }

    /// Whether plugin code owns the value.
    #[must_use]
    pub fn is_black(&self) -> bool {
        self.token.is_black()
    }

    /// Whether the value has moved or ended since this view was made.
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.raw().is_err_and(|error| error.kind() == alcedo_abi::call::FailureKind::EXPIRED)
    }

    /// A copy that plugin code owns, and may keep.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     tags: USet<String>,
    /// #     seen: USet<String>,
    /// # }
    /// # impl Thing { fn show(&mut self, this: This<'_, Self>) {
    /// self.seen = this.tags().clone();
    /// # } }
    /// ```
    #[must_use]
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "a copy of a view would be a view: this one may be kept")]
    pub fn clone(&self) -> K {
        self.try_clone().unwrap_or_else(|error| alcedo_rt::fail(error))
    }

    /// A copy that plugin code owns.
    ///
    /// # Errors
    /// `EXPIRED` when the value is not there any more.
    #[track_caller]
    pub fn try_clone(&self) -> Result<K, CallError> {
        let site = Location::caller();
        // SAFETY: it was looked at just now.
        unsafe { host::values::black_new::<K>(self.raw()?, site) }.map(|black| K::from_owned(Owned::of(black)))
    }

    /// The value by a number, for calls that know no types, until the running call has returned. Only a property can be
    /// lent, or a field of a struct in one: what lies in a container may move, and what plugin code owns has a number of its
    /// own, [`AnyConjugate::of`].
    ///
    /// # Errors
    /// `EXPIRED` when the value is not there any more; `OTHER` when it is no property.
    pub fn lend(&self) -> Result<AnyConjugate, CallError> {
        let at = self.raw()?;
        if !self.token.is_property() {
            let what = K::TYPE.as_str();
            return Err(CallError::other(format!(
                "a {what} that is no property cannot be lent: lend a `clone()` of it"
            )));
        }
        let place = host::values::place::<K>(self.token.owner(), at.cast_mut())?;
        // SAFETY: it was looked at just now, and is a property of its owner.
        let lent = unsafe { host::values::conjugate_lend(&place) }?;
        Ok(AnyConjugate::from_number(lent.0))
    }

    /// Overwrites the value with another: a black one, a view, or what std has for it.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     tags: USet<String>,
    /// # }
    /// # fn show(this: This<'_, Thing>) {
    /// this.tags().assign(["red", "round"]);
    /// # }
    /// ```
    pub fn assign(&self, value: impl IntoHost<K>) {
        self.try_assign(value).unwrap_or_else(|error| alcedo_rt::fail(error));
    }

    /// Overwrites the value, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`, `DURING_REBUILD`, or whatever the kind refuses.
    pub fn try_assign(&self, value: impl IntoHost<K>) -> Result<(), CallError> {
        with_raw::<K, _, _>(&value, |from| {
            let place = self.place()?;
            // SAFETY: the place was looked at just now; `from` is live for the closure.
            unsafe { host::values::copy(&place, from.cast()) }
        })
    }

    /// Overwrites the value with what a text says, as `Display` writes it. Of a text for people that is what is seen: the
    /// names it was translated by are none afterwards.
    ///
    /// # Errors
    /// When the text is no value of this kind; nothing has changed then.
    pub fn parse(&self, text: &str) -> Result<(), CallError> {
        let target = self.raw_mut()?;
        // SAFETY: it was looked at just now, and its owner may be written.
        if let Some(put) = unsafe { K::put_plain_text(target, text) } {
            return put;
        }
        let place = self.place()?;
        // SAFETY: it was looked at just now.
        unsafe { host::values::parse(&place, text) }
    }

    /// Whether another value of the kind equals this one.
    ///
    /// # Errors
    /// `EXPIRED` when one of them is not there any more.
    pub fn equals(&self, other: impl IntoHost<K>) -> Result<bool, CallError> {
        // SAFETY: ours was looked at just now; the other is live for the closure.
        with_raw::<K, _, _>(&other, |other| unsafe { host::values::equal::<K>(self.raw()?, other) })
    }

    /// A hash of the value: equal values have equal ones, as long as this process lives.
    ///
    /// # Errors
    /// `EXPIRED`, and `OTHER` for kinds that cannot be hashed.
    pub fn hash_value(&self) -> Result<u64, CallError> {
        // SAFETY: it was looked at just now.
        unsafe { host::values::hash::<K>(self.raw()?) }
    }

    fn printed(&self, is_quoted: bool) -> Result<String, CallError> {
        let raw = self.raw()?;
        // SAFETY: it was looked at just now, and views are the game thread's.
        match unsafe { K::plain_text(raw) } {
            Some(text) if is_quoted => Ok(format!("{text:?}")),
            Some(text) => Ok(text),
            // SAFETY: as above.
            None => unsafe { host::values::print::<K>(raw) },
        }
    }

    fn show(&self, is_quoted: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.printed(is_quoted) {
            Ok(text) => f.pad(&text),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

impl<'f, K: Kind> Deref for Lent<'f, K> {
    type Target = K::View<'f>;

    fn deref(&self) -> &K::View<'f> {
        let this: *const Self = self;
        // SAFETY: `Kind` promises that the view is transparent over this type, or has no size.
        unsafe { &*this.cast() }
    }
}

impl<K: Kind> PartialEq for Lent<'_, K> {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<K: Kind> PartialEq<K> for Lent<'_, K> {
    fn eq(&self, other: &K) -> bool {
        self.equals(other).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<K: Kind> fmt::Display for Lent<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(false, f)
    }
}

impl<K: Kind> fmt::Debug for Lent<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(true, f)
    }
}
