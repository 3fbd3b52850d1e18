//! View of a value in host memory, valid during one call.
#![expect(unsafe_code, reason = "dereferences addresses in host memory after checking their tokens")]

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::panic::Location;

use alcedo_abi::handles::{BlackHandle, ConjugateHandle, ObjectHandle};
use alcedo_abi::value::ArrayRaw;
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::into_host::{IntoHost, with_ptr};
use super::owned::seen;
use super::ptr::{Field, OptionalValue, Ptr, PtrMut, Viewable};
use super::row::Inside;
use super::verbs::{self, ValueLocation};
use super::{AnyConjugate, Kind, Owned, ValidityToken};
use crate::host::lending::{self, Access};
use crate::ptr::ArgumentSlot;
use crate::signature::Param;
use crate::validity_token::{Link, Owner, written_key};
use crate::{ObjectView, Value, host};

mod elements;

pub(crate) use elements::Walk;

/// View of a value of kind `K` in host memory during the running call `'f`. The value is a property, a parameter, an element, or an owned
/// value opened with `this.open(&…)`.
///
/// The view cannot outlive the call: code cannot store the view in a field, or move it to a thread or task. To retain the value, call
/// [`to_owned`](Self::to_owned). If an access is rejected, a method ends the running call with a typed error; the `try_` variant of the
/// method returns the error instead. For example, a write is rejected while a reload rebuilds objects, and an access to an element of a
/// container is rejected after the container has changed. A write to a key of a set or map is always rejected. A view reaches through at
/// most four containers: a method that returns a view of a value in a fifth container ends the running call.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::prelude::*;
///
/// /// Plugin part that keeps a copy.
/// #[derive(Default)]
/// struct Backup {
///     scores: Option<UArray<f64>>,
/// }
///
/// fn save(backup: &mut Backup, scores: &Borrowed<'_, UArray<f64>>) -> Result<(), CallError> {
///     scores.try_push(12.5)?;
///     backup.scores = Some(scores.try_to_owned()?);
///     Ok(())
/// }
/// ```
#[repr(C)]
pub struct Borrowed<'f, K: Kind> {
    // The raw pointer makes the view `!Send`.
    at: *mut K::Raw,
    token: ValidityToken<'f>,
    kind: PhantomData<fn(K) -> K>,
}

/// Opens an owned value and passes the view to `code`, for callers without an object view.
#[track_caller]
pub fn with_open<K: Kind, R>(value: &K, code: impl for<'v> FnOnce(Borrowed<'v, K>) -> R) -> R {
    let value = value.owned();
    // Fails if the value was destroyed, and on all threads except the game thread.
    value.at().unwrap_or_else(|error| alcedo_rt::fail(error));
    let (at, token) = seen::<K>(value.handle());
    // SAFETY: `Owned` promises a value of kind `K` that stays at this address while the token is valid. Each access checks the token.
    // `at` has just checked that this is the game thread. The lifetime `'v` keeps the view inside `code`.
    code(unsafe { Borrowed::new(at, token) })
}

impl<K: Kind> Owned<K> {
    /// Returns a pointer to the value, valid until the value is dropped or the host is called.
    ///
    /// # Errors
    /// See [`Owned::at`].
    #[inline]
    pub(crate) fn ptr(&self) -> Result<PtrMut<'_, K>, CallError> {
        // SAFETY: the host has just returned this address, which it does on the game thread only.
        // The value stays at this address while `self` owns the value. The owner may write the value.
        Ok(unsafe { PtrMut::new(self.at()?) })
    }
}

impl<'f, K: Kind> Borrowed<'f, K> {
    /// Opens a conjugate as kind `K`, and returns a view of the conjugate's value. `is_own` is `true` if this module owns the value,
    /// whereas [`AnyConjugate::is_black`] returns `true` if any plugin owns the value.
    ///
    /// # Errors
    /// See [`AnyConjugate::as_`].
    fn of_conjugate(
        _frame: &'f ObjectView<'_>,
        conjugate: ConjugateHandle,
        is_own: bool,
        is_black: impl FnOnce() -> bool,
    ) -> Result<Self, CallError> {
        let location = verbs::conjugate_open_as::<K>(conjugate)?;
        if !is_own && is_black() {
            let message = format!("a black {} of another module: open a `clone()` of it", K::TYPE.as_str());
            return Err(CallError::other(message));
        }
        // A red conjugate without an owner expires when the lending call returns. Such a conjugate is rejected, because a view could not
        // detect this.
        let (at, token) = match (is_own, location.owner().is_none()) {
            (true, _) => seen::<K>(BlackHandle(conjugate.0)),
            (false, false) => (location.at(), ValidityToken::of_object(location.owner())),
            (false, true) => {
                let message = format!("a {} that belongs to no object: open a `clone()` of it", K::TYPE.as_str());
                return Err(CallError::other(message));
            }
        };
        // SAFETY: the host has just compared the type and returned the address.
        // A value of this module stays at the address as long as the token is valid.
        // A red value is part of its owner: the token checks the owner, and the owner's memory stays valid during the call.
        Ok(unsafe { Self::new(at, token) })
    }

    #[inline]
    pub(crate) fn of(value: Viewable<'_, K, impl FnOnce() -> ValidityToken<'f>>) -> Self {
        let (at, token) = value.into_parts();
        Self { at: at.at(), token: token(), kind: PhantomData }
    }

    /// # Safety
    /// `at` is a live value of kind `K` as long as `token` is valid, and accessible to the game thread during `'f`.
    unsafe fn new(at: *mut K::Raw, token: ValidityToken<'f>) -> Self {
        Self { at, token, kind: PhantomData }
    }

    /// Checks that the value is alive and that `access` is allowed. Returns a pointer to the value.
    #[inline]
    fn checked(&self, access: Access) -> Result<PtrMut<'_, K>, CallError> {
        self.token.check(access, K::TYPE.as_str())?;
        // SAFETY: the caller of `new` promised a live value as long as the token is valid, which `check` has just confirmed.
        // For `Access::Read`, the functions below return a pointer for reading only.
        Ok(unsafe { PtrMut::new(self.at) })
    }

    /// Checks that the value is alive. Returns a pointer for reading.
    #[inline]
    pub(crate) fn ptr(&self) -> Result<Ptr<'_, K>, CallError> {
        self.checked(Access::Read).map(PtrMut::into_ptr)
    }

    /// Checks that the value is alive and that its owner may be written. Returns a pointer for a direct write.
    #[inline]
    pub(crate) fn ptr_mut(&self) -> Result<PtrMut<'_, K>, CallError> {
        let value = self.checked(Access::Write)?;
        if !self.token.owner().is_none() {
            host::may_write(self.token.owner(), K::NAMES_OBJECTS)?;
        }
        Ok(value)
    }

    /// Returns the location for a host function that changes the value. That function checks that the owner may be written.
    #[inline]
    pub(crate) fn location(&self) -> Result<ValueLocation<'_, K>, CallError> {
        self.checked(Access::Write)?.into_location(self.token.owner())
    }

    #[inline]
    pub(crate) fn field<T: Value>(&self, field: &Field<K, T>) -> Result<T::Seen<'f>, CallError> {
        let value = self.checked(Access::Read)?.into_field(field);
        // SAFETY: the value has just been checked, and its field is live as long as the value's token is valid.
        Ok(T::see(unsafe { Viewable::new(value, || self.token) }))
    }

    /// Checks that the value, a container, is alive. Returns access to its elements.
    #[inline]
    fn inside(&self) -> Result<Inside<'_, 'f, K>, CallError> {
        let value = self.checked(Access::Read)?;
        // SAFETY: the value has just been checked, and is live as long as its token is valid.
        Ok(Inside::of(unsafe { Viewable::new(value, || self.token) }))
    }

    #[inline]
    pub(crate) fn token(&self) -> ValidityToken<'f> {
        self.token
    }

    /// Returns `true` if plugin code owns the value.
    #[must_use]
    pub fn is_black(&self) -> bool {
        self.token.is_black()
    }

    /// Returns `true` if the value was moved or destroyed after this view was created.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn shrink(lists: &Borrowed<'_, UArray<UArray<f64>>>) -> bool {
    ///     let Some(first) = lists.first() else { return false };
    ///     lists.clear();
    ///     first.is_expired()
    /// }
    /// ```
    #[must_use]
    pub fn is_expired(&self) -> bool {
        self.ptr().is_err_and(|error| error.kind() == alcedo_abi::call::FailureKind::EXPIRED)
    }

    /// Returns an owned copy, which plugin code may store.
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
    /// self.seen = this.tags().to_owned();
    /// # } }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn to_owned(&self) -> K {
        self.try_to_owned().unwrap_or_else(|error| alcedo_rt::fail(error))
    }

    /// Returns an owned copy, which plugin code may store.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value no longer exists.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn keep(titles: &mut Vec<UString>, title: &Borrowed<'_, UString>) -> Result<(), CallError> {
    ///     titles.push(title.try_to_owned()?);
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn try_to_owned(&self) -> Result<K, CallError> {
        let site = Location::caller();
        verbs::black_new(Some(self.ptr()?), site).map(|black| K::from_owned(Owned::of(black)))
    }

    /// Lends the value to calls without static types until the running call returns. Only a property, or a field of a struct in a property,
    /// can be lent, because elements of containers can move. For an owned value, use [`AnyConjugate::of`].
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value no longer exists, or with `OTHER` if the value is not part of a property.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Board {
    /// #     #[uproperty]
    /// #     scores: UArray<f64>,
    /// # }
    /// fn sum(board: This<'_, Board>) -> Result<f64, CallError> {
    ///     let borrowed = board.scores().to_conjugate()?;
    ///     board.zcall_any("ex:/scores.sum", (borrowed,))
    /// }
    /// ```
    pub fn to_conjugate(&self) -> Result<AnyConjugate, CallError> {
        let value = self.checked(Access::Read)?;
        if !self.token.is_property() {
            let what = K::TYPE.as_str();
            return Err(CallError::other(format!(
                "a {what} that is not a property cannot be lent: pass an owned copy, from `to_owned()`"
            )));
        }
        // SAFETY: the value has just been checked, and the token marks it as part of a property of its owner.
        let borrowed = unsafe { verbs::conjugate_borrow(&value.into_location(self.token.owner())?) }?;
        Ok(AnyConjugate::from_number(borrowed.0))
    }

    /// Overwrites the value with an owned value, a view, or an equivalent of the standard library.
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

    /// Overwrites the value with an owned value, a view, or an equivalent of the standard library.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if this value no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner. Also fails
    /// if the kind rejects the value.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn copy(from: &Borrowed<'_, UArray<f64>>, to: &Borrowed<'_, UArray<f64>>) {
    ///     if let Err(error) = to.try_assign(from) {
    ///         eprintln!("not copied: {error}");
    ///     }
    /// }
    /// ```
    pub fn try_assign(&self, value: impl IntoHost<K>) -> Result<(), CallError> {
        with_ptr::<K, _, _>(&value, |from| verbs::copy(&self.location()?, from))
    }

    /// Parses a string in the format of `Display`, and overwrites the value with the result. For a localized text, sets the visible
    /// string and clears namespace and key.
    ///
    /// # Errors
    /// Fails if the string is not a value of this kind. A failed call leaves the value unchanged.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn load(scores: &Borrowed<'_, UArray<f64>>, line: &str) {
    ///     // A line that is not a list leaves the value unchanged.
    ///     if let Err(error) = scores.parse(line) {
    ///         eprintln!("{line:?} is skipped: {error}");
    ///     }
    /// }
    /// ```
    pub fn parse(&self, text: &str) -> Result<(), CallError> {
        if let Some(put) = K::put_plain_text(self.ptr_mut()?, text) {
            return put;
        }
        verbs::parse(&self.location()?, text)
    }

    /// Returns `true` if this value equals `other`.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if either value no longer exists.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn is_default(tags: &Borrowed<'_, UArray<String>>) -> Result<bool, CallError> {
    ///     tags.equals(["new", "visible"])
    /// }
    /// ```
    pub fn equals(&self, other: impl IntoHost<K>) -> Result<bool, CallError> {
        with_ptr::<K, _, _>(&other, |other| verbs::equal(self.ptr()?, other))
    }

    /// Returns a hash of the value. Equal values have equal hashes within one process.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the value no longer exists, or with `OTHER` for kinds whose values cannot be hashed.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn has_changed(tags: &Borrowed<'_, UArray<String>>, last: &mut u64) -> bool {
    ///     let hash = tags.hash_value().unwrap_or(0);
    ///     std::mem::replace(last, hash) != hash
    /// }
    /// ```
    pub fn hash_value(&self) -> Result<u64, CallError> {
        verbs::hash(self.ptr()?)
    }

    fn printed(&self, is_quoted: bool) -> Result<String, CallError> {
        let at = self.ptr()?;
        match K::plain_text(at) {
            Some(text) if is_quoted => Ok(format!("{text:?}")),
            Some(text) => Ok(text),
            None => verbs::print(at),
        }
    }

    fn show(&self, is_quoted: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.printed(is_quoted) {
            Ok(text) => f.pad(&text),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}

macro_rules! views {
    ($($view:ty),*) => {$(
        // SAFETY: the view has just checked that the value is at this address.
        unsafe impl<K: Kind> IntoHost<K> for $view {
            fn host_address(&self) -> Result<Option<*const K::Raw>, CallError> {
                self.ptr().map(|value| Some(value.at()))
            }

            fn put(&self, target: PtrMut<'_, K>) -> Result<(), CallError> {
                let from = self.ptr()?;
                verbs::copy(&target.into_location(ObjectHandle::NONE)?, from)
            }
        }
    )*};
}
views!(Borrowed<'_, K>, &Borrowed<'_, K>);

/// Returns a view of a value in host memory.
pub fn borrowed_view<'f, K: Kind>(value: Viewable<'_, K, impl FnOnce() -> ValidityToken<'f>>) -> Borrowed<'f, K> {
    Borrowed::of(value)
}

/// Marker type for a parameter that a method receives as [`Borrowed`]. No value of this type is ever created.
#[derive(Debug)]
pub struct Red<K: Kind>(PhantomData<fn() -> K>);

// SAFETY: no slot is ever created from this type or read as this type.
unsafe impl<K: Kind> Param for Red<K> {
    type Value = K;
    type Declared = K;
    type In = ();
    type Seen<'f> = Borrowed<'f, K>;

    crate::signature::only_goes_in!();

    fn open<'f>(value: Viewable<'f, K, impl FnOnce() -> ValidityToken<'f>>) -> Borrowed<'f, K> {
        Borrowed::of(value)
    }

    unsafe fn stage(&self) {}

    fn slot_in(&self, (): &()) -> Slot {
        Slot::EMPTY
    }

    fn from_slot(_slot: ArgumentSlot<'_, K>) -> Result<Self, CallError> {
        Err(CallError::other("a view of a parameter is never read from a slot"))
    }
}

impl AnyConjugate {
    /// Opens the value in place as kind `K` for the rest of the running call. An owned value must belong to this module, because the
    /// lifetime of another module's value is unknown: open a clone of such a value instead.
    ///
    /// # Errors
    /// Fails with `SIGNATURE`, and reports both types, if the value's type differs from `K`. Fails with `EXPIRED`, and reports kind and
    /// age, if the value no longer exists. Fails with `OTHER` for an owned value of a different module, or with `NOT_FOUND` for an unknown
    /// number.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn len(this: This<'_, Object>, value: &AnyConjugate) -> usize {
    ///     if let Ok(list) = value.as_::<UArray<f64>>(&this) {
    ///         return list.len();
    ///     }
    ///     match value.as_::<UString>(&this) {
    ///         Ok(text) => text.len(),
    ///         Err(_other_kind) => 0,
    ///     }
    /// }
    /// ```
    pub fn as_<'a, K: Kind>(&'a self, this: &'a ObjectView<'_>) -> Result<Borrowed<'a, K>, CallError> {
        Borrowed::of_conjugate(this, ConjugateHandle(self.number()), self.is_own(), || self.is_black())
    }
}

impl ObjectView<'_> {
    /// Opens an owned value for use in the running call. If the value is destroyed, for instance with its generation, each use of the view
    /// fails with `EXPIRED`.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { scores: UArray<f64> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// this.open(&self.scores).push(12.5);
    /// # } }
    /// ```
    #[must_use]
    pub fn open<'a, K: Kind>(&'a self, value: &'a K) -> Borrowed<'a, K> {
        let (at, token) = seen::<K>(value.owned().handle());
        // SAFETY: `Owned` promises a value of kind `K` that stays at this address while the token is valid. Each access checks the token.
        // An object's view exists on the game thread only.
        unsafe { Borrowed::new(at, token) }
    }
}

// Constructors of tokens for views of container elements.

impl ValidityToken<'_> {
    /// Returns a token that also checks the epoch of the container's buffer `row`. `now` is a copy of the buffer's current state.
    ///
    /// # Safety
    /// The buffer is live as long as this token is valid, and the value is live as long as the buffer's epoch is unchanged.
    pub(super) unsafe fn in_row(self, row: *const ArrayRaw, now: &ArrayRaw) -> Self {
        self.with(Link { at: row.cast(), then: now.epoch.min(ArrayRaw::WORN - 1) })
    }

    /// Returns a token that also checks that the optional is set.
    ///
    /// # Safety
    /// The byte is live as long as this token is valid, and the optional's value is live as long as the byte is not zero.
    unsafe fn in_optional(self, is_set: *const u8) -> Self {
        self.with(Link { at: is_set.cast(), then: Link::SET })
    }

    /// Checks that the value is alive, and that `access` is currently allowed.
    ///
    /// # Errors
    /// Fails with `EXPIRED`, and reports kind and age, if the value no longer exists. Fails with `BORROWED` while a slice forbids the
    /// access, or with `OTHER` for a write to a key.
    #[inline]
    pub(crate) fn check(&self, access: Access, kind: &str) -> Result<(), CallError> {
        lending::allows(access, kind)?;
        if self.is_key && access == Access::Write {
            return Err(written_key(kind));
        }
        match self.owner_kind {
            Owner::Frame => {}
            Owner::Object(owner, ends) if host::lives(owner, ends) => {}
            Owner::Black(black, ends) if host::black_lives(black, ends) => {}
            Owner::Object(owner, _) => return Err(self.expired(kind, &format!("the lifetime of its owner {owner}"))),
            Owner::Black(black, _) | Owner::Ended(black) => {
                return Err(self.expired(kind, &host::age_text(black.into())));
            }
        }
        for link in &self.links {
            if link.at.is_null() {
                break;
            }
            let is_optional = link.then == Link::SET;
            // SAFETY: the previous links are valid, so the byte or the buffer is live by the contract of `in_optional` or `in_row`.
            // No reference is made, because the host changes the value.
            let now = unsafe {
                if is_optional {
                    u64::from(link.at.cast::<u8>().read() != 0)
                } else {
                    (&raw const (*link.at.cast::<ArrayRaw>()).epoch).read()
                }
            };
            if is_optional && now == 0 {
                return Err(self.expired(kind, "the last value of its optional"));
            }
            if !is_optional && now != link.then {
                return Err(self.moved(kind, link.then, now));
            }
        }
        Ok(())
    }
}

impl<'f, O: Kind> Borrowed<'f, O> {
    /// Returns the value of an optional, or `None` if the optional is unset.
    #[inline]
    pub(crate) fn item_of_optional(&self) -> Result<Option<<O::Item as Value>::Seen<'f>>, CallError>
    where
        O: OptionalValue,
    {
        let optional = self.checked(Access::Read)?;
        let is_set = optional.as_ptr().is_set_at();
        let Some(value) = optional.into_value() else { return Ok(None) };
        // SAFETY: the optional has just been checked and is live as long as its own token is valid.
        // The byte at `is_set` is zero while the optional is unset.
        let value = unsafe { Viewable::new(value, || self.token.in_optional(is_set)) };
        Ok(Some(O::Item::see(value)))
    }
}

impl<'f, K: Kind> Deref for Borrowed<'f, K> {
    type Target = K::View<'f>;

    fn deref(&self) -> &K::View<'f> {
        let this: *const Self = self;
        // SAFETY: `Kind` promises that the view is transparent over this type, or zero-sized.
        unsafe { &*this.cast() }
    }
}

impl<K: Kind> PartialEq for Borrowed<'_, K> {
    fn eq(&self, other: &Self) -> bool {
        self.equals(other).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<K: Kind> PartialEq<K> for Borrowed<'_, K> {
    fn eq(&self, other: &K) -> bool {
        self.equals(other).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<K: Kind> fmt::Display for Borrowed<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(false, f)
    }
}

impl<K: Kind> fmt::Debug for Borrowed<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(true, f)
    }
}
