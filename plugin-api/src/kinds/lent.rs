//! The view of a value in host memory, for the length of a call.
#![expect(unsafe_code, reason = "follows addresses in host memory after it has asked whether they are right")]

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
use super::row::{Items, Keyed, Keys, List, Mapped, Part, Row, Values};
use super::verbs::{self, Place};
use super::{AnyConjugate, Kind, Owned, ValidityToken};
use crate::blocks::ArgumentSlot;
use crate::host::lending::{self, Access};
use crate::signature::Param;
use crate::validity_token::{Home, Link, written_key};
use crate::{ObjectView, Value, host};

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

/// Shows a value that plugin code owns to `code`, where there is no object that would show it.
#[track_caller]
pub fn with_open<K: Kind, R>(value: &K, code: impl for<'v> FnOnce(Lent<'v, K>) -> R) -> R {
    let value = value.owned();
    // On another thread this is an error, and so is a value that has ended.
    value.at().unwrap_or_else(|error| alcedo_rt::fail(error));
    let (at, token) = seen::<K>(value.handle());
    // SAFETY: the value is of kind `K`, which `Owned` says, and lies there as long as the token says so, which looks; this is the game
    // thread, as was just seen, and the view does not outlive `code`, which `'v` says.
    code(unsafe { Lent::new(at, token) })
}

impl<'f, K: Kind> Lent<'f, K> {
    /// A value that plugin code owns.
    #[inline]
    pub(crate) fn of_owned(_frame: &'f ObjectView<'_>, value: &'f Owned<K>) -> Self {
        let (at, token) = seen::<K>(value.handle());
        // SAFETY: the value is of kind `K`, which `Owned` says, and lies there as long as the token says so, which looks; who
        // has an object's view is on the game thread.
        unsafe { Self::new(at, token) }
    }

    /// The value of a conjugate, which the host opens as a `K`; `is_own` if it is a black of this module's, `is_black` if it is
    /// one at all.
    ///
    /// # Errors
    /// As [`AnyConjugate::as_`].
    pub(crate) fn of_conjugate(
        _frame: &'f ObjectView<'_>,
        conjugate: ConjugateHandle,
        is_own: bool,
        is_black: impl FnOnce() -> bool,
    ) -> Result<Self, CallError> {
        let place = verbs::conjugate_open_as::<K>(conjugate)?;
        if !is_own && is_black() {
            let message = format!("a black {} that another owns: open a `clone()` of it", K::TYPE.as_str());
            return Err(CallError::other(message));
        }
        // A red that was lent without an owner would end with the call that lent it, which no view here could tell.
        let (at, token) = match (is_own, place.owner().is_none()) {
            (true, _) => seen::<K>(BlackHandle(conjugate.0)),
            (false, false) => (place.at(), ValidityToken::of_object(place.owner())),
            (false, true) => {
                let message = format!("a {} that belongs to no object: open a `clone()` of it", K::TYPE.as_str());
                return Err(CallError::other(message));
            }
        };
        // SAFETY: the host has just compared the type and said where the value lies. A black of one's own is there as long as the
        // token says so; a red lies in its owner, which the token asks for, and whose memory stays for the call.
        Ok(unsafe { Self::new(at, token) })
    }

    /// A value, with its token.
    #[inline]
    pub(crate) fn of(value: Viewable<'_, K, impl FnOnce() -> ValidityToken<'f>>) -> Self {
        let (at, token) = value.into_parts();
        Self { at: at.at(), token: token(), kind: PhantomData }
    }

    /// # Safety
    /// `at` is a live value of kind `K` as long as `token` is good, and the game thread's for `'f`.
    unsafe fn new(at: *mut K::Raw, token: ValidityToken<'f>) -> Self {
        Self { at, token, kind: PhantomData }
    }

    /// The value, after a look whether it still lies there, and may be accessed so.
    #[inline]
    fn checked(&self, access: Access) -> Result<PtrMut<'_, K>, CallError> {
        self.token.check(access, K::TYPE.as_str())?;
        // SAFETY: whoever made the view promised a live value as long as the token is good, which it is. Where `access` is to read,
        // the functions below give out a pointer to read.
        Ok(unsafe { PtrMut::new(self.at) })
    }

    /// The value, after a look whether it still lies there.
    #[inline]
    pub(crate) fn ptr(&self) -> Result<Ptr<'_, K>, CallError> {
        self.checked(Access::Read).map(PtrMut::into_ptr)
    }

    /// The same for a write straight to memory.
    #[inline]
    pub(crate) fn ptr_mut(&self) -> Result<PtrMut<'_, K>, CallError> {
        let value = self.checked(Access::Write)?;
        if !self.token.owner().is_none() {
            host::may_write(self.token.owner(), K::NAMES_OBJECTS)?;
        }
        Ok(value)
    }

    /// The same for a change that the host makes, who asks whether the owner may be written.
    #[inline]
    pub(crate) fn place(&self) -> Result<Place<'_, K>, CallError> {
        self.checked(Access::Write)?.into_place(self.token.owner())
    }

    /// A field of this value.
    #[inline]
    pub(crate) fn field<T: Value>(&self, field: &Field<K, T>) -> Result<T::Seen<'f>, CallError> {
        let value = self.checked(Access::Read)?.into_field(field);
        // SAFETY: the value was looked at just now, and its field is live as long as its own token is good.
        Ok(T::see(unsafe { Viewable::new(value, || self.token) }))
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
        self.ptr().is_err_and(|error| error.kind() == alcedo_abi::call::FailureKind::EXPIRED)
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
        verbs::black_new(Some(self.ptr()?), site).map(|black| K::from_owned(Owned::of(black)))
    }

    /// The value by a number, for calls that know no types, until the running call has returned. Only a property can be
    /// lent, or a field of a struct in one: what lies in a container may move, and what plugin code owns has a number of its
    /// own, [`AnyConjugate::of`].
    ///
    /// # Errors
    /// `EXPIRED` when the value is not there any more; `OTHER` when it is no property.
    pub fn lend(&self) -> Result<AnyConjugate, CallError> {
        let value = self.checked(Access::Read)?;
        if !self.token.is_property() {
            let what = K::TYPE.as_str();
            return Err(CallError::other(format!(
                "a {what} that is no property cannot be lent: lend a `clone()` of it"
            )));
        }
        // SAFETY: the value was looked at just now, and the token says that it is a property of its owner.
        let lent = unsafe { verbs::conjugate_lend(&value.into_place(self.token.owner())?) }?;
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
        with_ptr::<K, _, _>(&value, |from| verbs::copy(&self.place()?, from))
    }

    /// Overwrites the value with what a text says, as `Display` writes it. Of a text for people that is what is seen: the
    /// names it was translated by are none afterwards.
    ///
    /// # Errors
    /// When the text is no value of this kind; nothing has changed then.
    pub fn parse(&self, text: &str) -> Result<(), CallError> {
        if let Some(put) = K::put_plain_text(self.ptr_mut()?, text) {
            return put;
        }
        verbs::parse(&self.place()?, text)
    }

    /// Whether another value of the kind equals this one.
    ///
    /// # Errors
    /// `EXPIRED` when one of them is not there any more.
    pub fn equals(&self, other: impl IntoHost<K>) -> Result<bool, CallError> {
        with_ptr::<K, _, _>(&other, |other| verbs::equal(self.ptr()?, other))
    }

    /// A hash of the value: equal values have equal ones, as long as this process lives.
    ///
    /// # Errors
    /// `EXPIRED`, and `OTHER` for kinds that cannot be hashed.
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

// SAFETY: the view has just checked that the value is at this address.
unsafe impl<K: Kind> IntoHost<K> for Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.ptr().map(|value| Some(value.at()))
    }

    fn put(&self, target: PtrMut<'_, K>) -> Result<(), CallError> {
        put_copy(self.ptr()?, target)
    }
}

// SAFETY: the view has just checked that the value is at this address.
unsafe impl<K: Kind> IntoHost<K> for &Lent<'_, K> {
    fn lies_at(&self) -> Result<Option<*const K::Raw>, CallError> {
        self.ptr().map(|value| Some(value.at()))
    }

    fn put(&self, target: PtrMut<'_, K>) -> Result<(), CallError> {
        put_copy(self.ptr()?, target)
    }
}

fn put_copy<T: Value>(from: Ptr<'_, T>, target: PtrMut<'_, T>) -> Result<(), CallError> {
    verbs::copy(&target.into_place(ObjectHandle::NONE)?, from)
}

/// The view of a value.
pub fn lend<'f, K: Kind>(value: Viewable<'_, K, impl FnOnce() -> ValidityToken<'f>>) -> Lent<'f, K> {
    Lent::of(value)
}

/// A parameter that a method sees as [`Lent`]. There is none outside of a block.
#[derive(Debug)]
pub struct Red<K: Kind>(PhantomData<fn() -> K>);

// SAFETY: no slot is ever made of one or read for one.
unsafe impl<K: Kind> Param for Red<K> {
    type Value = K;
    type Declared = K;
    type In = ();
    type Seen<'f> = Lent<'f, K>;

    crate::signature::only_goes_in!();

    fn open<'f>(value: Viewable<'f, K, impl FnOnce() -> ValidityToken<'f>>) -> Lent<'f, K> {
        Lent::of(value)
    }

    unsafe fn stage(&self) {}

    fn slot_in(&self, (): &()) -> Slot {
        Slot::EMPTY
    }

    fn from_slot(_slot: ArgumentSlot<'_, K>) -> Result<Self, CallError> {
        Err(CallError::other("a view of a parameter is never taken out of a slot"))
    }
}

impl AnyConjugate {
    /// The value where it lies, as one of the kind `K`, for the rest of the running call. A black must be this module's own:
    /// how long others stay is unknown, so a copy is opened instead.
    ///
    /// # Errors
    /// `SIGNATURE`, with both types, when it is another; `EXPIRED`, with kind and age; `OTHER` for a black that is
    /// somebody else's; `NOT_FOUND` for a number that was never given out.
    pub fn as_<'a, K: Kind>(&'a self, this: &'a ObjectView<'_>) -> Result<Lent<'a, K>, CallError> {
        Lent::of_conjugate(this, ConjugateHandle(self.number()), self.is_own(), || self.is_black())
    }
}

impl ObjectView<'_> {
    /// A value that plugin code owns, for use in the running call. Of one that has ended, with its generation for instance,
    /// every use is the error `EXPIRED`.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { scores: UArray<f64> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// this.open(&self.scores).push(12.5);
    /// # } }
    /// ```
    #[must_use]
    pub fn open<'a, K: Kind>(&'a self, value: &'a K) -> Lent<'a, K> {
        Lent::of_owned(self, value.owned())
    }
}

// What a container has in it, as the frame sees it.

impl ValidityToken<'_> {
    /// A value in the row of a container, of which `now` was read just now.
    ///
    /// # Safety
    /// The row is live as long as this token is good, and so is the value while the row's counter stands still.
    unsafe fn in_row(self, row: *const ArrayRaw, now: &ArrayRaw) -> Self {
        self.with(Link { at: row.cast(), then: now.epoch.min(ArrayRaw::WORN - 1) })
    }

    /// The value of an optional.
    ///
    /// # Safety
    /// The byte is live as long as this token is good, and so is the value while the byte is not zero.
    unsafe fn in_optional(self, is_set: *const u8) -> Self {
        self.with(Link { at: is_set.cast(), then: Link::SET })
    }

    /// Whether the value is still there, and may be accessed now.
    ///
    /// # Errors
    /// `EXPIRED` with kind and age; `LENT` while a slice forbids it; `OTHER` for a write to a key.
    #[inline]
    pub(crate) fn check(&self, access: Access, kind: &str) -> Result<(), CallError> {
        lending::allows(access, kind)?;
        if self.is_key && access == Access::Write {
            return Err(written_key(kind));
        }
        match self.home {
            Home::Frame => {}
            Home::Object(owner, ends) if host::lives(owner, ends) => {}
            Home::Black(black, ends) if host::black_lives(black, ends) => {}
            Home::Object(owner, _) => return Err(self.expired(kind, &format!("the life of its owner {owner}"))),
            Home::Black(black, _) | Home::Ended(black) => {
                return Err(self.expired(kind, &host::age_in_words(black.into())));
            }
        }
        for link in &self.links {
            if link.at.is_null() {
                break;
            }
            let is_optional = link.then == Link::SET;
            // SAFETY: the links before this one hold, so the byte or the row is live by the contract of `in_optional` or `in_row`; no
            // reference is made, since the host changes it.
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

/// What lies in the row of a container, as the running call `'f` sees it.
struct Inside<'a, 'f, P: Part> {
    whole: Ptr<'a, P::Whole>,
    /// That of the container, which was looked at just now.
    token: ValidityToken<'f>,
    /// By what the row is known to be as it was at an earlier look, which has to be true now.
    in_row: Option<ValidityToken<'f>>,
}

impl<'f, P: Part> Inside<'_, 'f, P> {
    /// By what it is known that values stay where they are in the row.
    #[inline]
    fn in_row(&self) -> ValidityToken<'f> {
        self.in_row.unwrap_or_else(|| {
            let row = self.whole.at().wrapping_byte_add(P::ROW).cast();
            // SAFETY: the row lies in the container, which is live as long as its own token is good; its counter tells of every move
            // of a value.
            unsafe { self.token.in_row(row, &P::row(self.whole.read())) }
        })
    }

    /// The value at an index, if there is one.
    #[inline]
    fn see(&self, index: usize) -> Option<<P::Item as Value>::Seen<'f>> {
        let token = || if P::IS_KEY { self.in_row().as_key() } else { self.in_row() };
        // SAFETY: a value in the row stays as long as the token is good, which is of this row.
        Some(P::Item::see(unsafe { Viewable::new(Row::of::<P>(self.whole).get(index)?, token) }))
    }
}

impl<'f, K: Kind> Lent<'f, K> {
    #[inline]
    fn inside<P: Part<Whole = K>>(&self) -> Result<Inside<'_, 'f, P>, CallError> {
        Ok(Inside { whole: self.ptr()?, token: self.token, in_row: None })
    }

    /// The value of an array at an index, if there is one.
    #[inline]
    pub(crate) fn item(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: List,
    {
        Ok(self.inside::<Items<K>>()?.see(index))
    }

    /// The value of a map at an index, if there is one.
    #[inline]
    pub(crate) fn value_at(&self, index: usize) -> Result<Option<<K::Item as Value>::Seen<'f>>, CallError>
    where
        K: Mapped,
    {
        Ok(self.inside::<Values<K>>()?.see(index))
    }
}

/// A walk over the entries of a set or map: a change of its row on the way is an error.
pub(crate) struct Walk<'a, 'f, M: Kind> {
    over: &'a Lent<'f, M>,
    next: usize,
    /// By what all entries are known to be there still, since the first step.
    token: Option<ValidityToken<'f>>,
}

impl<'a, 'f, M: Keyed + Kind> Walk<'a, 'f, M> {
    pub(crate) fn new(over: &'a Lent<'f, M>) -> Self {
        Self { over, next: 0, token: None }
    }

    #[inline]
    fn step(&mut self) -> Result<(usize, Inside<'a, 'f, Keys<M>>), CallError> {
        let keys = self.over.inside::<Keys<M>>()?;
        let token = *self.token.get_or_insert_with(|| keys.in_row());
        token.check(Access::Read, "iteration")?;
        Ok((self.next, Inside { in_row: Some(token), ..keys }))
    }

    /// The next key.
    #[inline]
    pub(crate) fn key(&mut self) -> Result<Option<<M::Key as Value>::Seen<'f>>, CallError> {
        let (index, keys) = self.step()?;
        let key = keys.see(index);
        self.next += usize::from(key.is_some());
        Ok(key)
    }

    /// The next key, and its value.
    #[inline]
    pub(crate) fn entry(&mut self) -> Result<Option<SeenEntry<'f, M>>, CallError>
    where
        M: Mapped,
    {
        let (index, keys) = self.step()?;
        let values = Inside::<Values<M>> { whole: keys.whole, token: keys.token, in_row: keys.in_row };
        let (key, value) = (keys.see(index), values.see(index));
        self.next += usize::from(key.is_some());
        Ok(key.zip(value))
    }
}

/// An entry of a map as the frame sees it.
pub(crate) type SeenEntry<'f, M> = (<<M as Keyed>::Key as Value>::Seen<'f>, <<M as Mapped>::Item as Value>::Seen<'f>);

impl<'f, O: Kind> Lent<'f, O> {
    /// The value, if there is one.
    #[inline]
    pub(crate) fn item_of_optional(&self) -> Result<Option<<O::Item as Value>::Seen<'f>>, CallError>
    where
        O: OptionalValue,
    {
        let optional = self.checked(Access::Read)?;
        let is_set = optional.as_ptr().is_set_at();
        let Some(value) = optional.into_value() else { return Ok(None) };
        // SAFETY: the optional was looked at just now and is live as long as its own token is good; the byte tells whether there
        // is a value.
        let value = unsafe { Viewable::new(value, || self.token.in_optional(is_set)) };
        Ok(Some(O::Item::see(value)))
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
