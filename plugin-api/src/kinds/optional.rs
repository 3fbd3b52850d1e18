//! Optionals: a value or none.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::mem::offset_of;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, owned};
use super::kind;
use super::lending::{self, Access};
use super::temp::Temp;
use crate::{Lent, Value, host};

/// An optional as the host has it: a byte that is zero or one, and the value at the next offset that suits it.
#[repr(C)]
#[derive(Debug)]
pub struct OptionalRaw<T> {
    is_set: u8,
    value: T,
}

kind! {
    /// A value or none, in host memory.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { best: UOptional<f64> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// let best = this.open(&self.best);
    /// best.set(12.5);
    /// assert_eq!(best.get(), Some(12.5));
    /// # } }
    /// ```
    UOptional<T: Value>, raw: OptionalRaw<T::Raw>, kind: OPTIONAL, path: T::TYPE.as_str(),
    literal: crate::value::NoDefault, pointer
}

impl<T: Value> UOptional<T> {
    /// An optional with this value or none, which plugin code owns.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[track_caller]
    pub fn of(value: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(value)
    }
}

/// Where the byte of an optional lies.
///
/// # Safety
/// `raw` is live.
unsafe fn is_set_at<T>(raw: *const OptionalRaw<T>) -> *const u8 {
    // SAFETY: promised by the caller; no reference is made, since the host changes it.
    unsafe { &raw const (*raw).is_set }
}

/// Where the value of an optional lies, be there one or not.
///
/// # Safety
/// `raw` is live.
unsafe fn value_at<T>(raw: *const OptionalRaw<T>) -> *const T {
    // SAFETY: promised by the caller.
    unsafe { raw.byte_add(offset_of!(OptionalRaw<T>, value)) }.cast()
}

/// The value of an optional, copied.
///
/// # Safety
/// `raw` is a live optional of values of type `T`.
pub(super) unsafe fn load_optional<T: Value>(raw: *const OptionalRaw<T::Raw>) -> Option<T> {
    lending::allows(Access::Read, "copying an optional").unwrap_or_else(|error| fail(error));
    // SAFETY: promised by the caller.
    let is_set = unsafe { is_set_at(raw) };
    // SAFETY: as above.
    if unsafe { is_set.read() } == 0 {
        return None;
    }
    // SAFETY: as above.
    let value = unsafe { value_at(raw) };
    // SAFETY: the byte says that there is a value.
    Some(unsafe { T::load(value) })
}

/// Overwrites an optional of type `O`.
///
/// # Safety
/// `target` is a live optional of that type that may be written.
pub(super) unsafe fn put_optional<O, T, G>(given: Option<&G>, target: *mut OptionalRaw<T::Raw>) -> Result<(), CallError>
where
    O: Value<Raw = OptionalRaw<T::Raw>>,
    T: Value,
    G: IntoHost<T> + ?Sized,
{
    let mut fresh = Temp::<O>::zeroed();
    if let Some(value) = given {
        let value = super::into_host::staged::<T, G>(value)?;
        let raw = fresh.at_mut();
        // SAFETY: ours, on this stack.
        let at = unsafe { value_at(raw) };
        // SAFETY: ours, and of zero bytes so far.
        unsafe { value.move_to(at.cast_mut()) };
        // SAFETY: ours, on this stack.
        unsafe { raw.cast::<u8>().write(1) };
    }
    let place = host::values::place::<O>(ObjectHandle::NONE, target)?;
    // SAFETY: both are live optionals of the type.
    unsafe { host::values::copy(&place, fresh.at().cast()) }
}

impl<'f, T: Value> Lent<'f, UOptional<T>> {
    /// Whether there is a value.
    #[must_use]
    pub fn is_some(&self) -> bool {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the optional was looked at just now.
        let is_set = unsafe { is_set_at(raw) };
        // SAFETY: as above.
        (unsafe { is_set.read() }) != 0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        !self.is_some()
    }

    /// The value: a plain one as a copy, any other as a view.
    #[must_use]
    pub fn get(&self) -> Option<T::Seen<'f>> {
        if self.is_none() {
            return None;
        }
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the optional was looked at just now.
        let is_set = unsafe { is_set_at(raw) };
        // SAFETY: as above.
        let value = unsafe { value_at(raw) };
        // SAFETY: the byte is live as long as the optional's own token is good, and tells whether there is a value.
        let token = || unsafe { self.token().in_optional(is_set) };
        // SAFETY: a live value, as long as that token is good.
        Some(unsafe { T::see(value.cast_mut(), token) })
    }

    /// Puts a value in.
    pub fn set(&self, value: impl IntoHost<T>) {
        self.try_set(value).unwrap_or_else(|error| fail(error));
    }

    /// Puts a value in, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_set(&self, value: impl IntoHost<T>) -> Result<(), CallError> {
        let target = self.raw_mut()?;
        // SAFETY: the optional was looked at just now, and its owner may be written.
        unsafe { put_optional::<UOptional<T>, T, _>(Some(&value), target) }
    }

    /// Takes the value out.
    pub fn take(&self) -> Option<T> {
        let value = self.to_option();
        self.clear();
        value
    }

    /// Leaves no value.
    pub fn clear(&self) {
        self.assign(None::<T>);
    }

    /// A copy of the value.
    #[must_use]
    pub fn to_option(&self) -> Option<T> {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the optional was looked at just now.
        unsafe { load_optional(raw) }
    }
}

impl<T: Value> From<&Lent<'_, UOptional<T>>> for Option<T> {
    fn from(optional: &Lent<'_, UOptional<T>>) -> Self {
        optional.to_option()
    }
}
