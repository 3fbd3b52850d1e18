//! The kind `Optional`: values that may be unset, in host memory.

use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, load_optional, owned, put_optional};
use super::kind;
use super::ptr::OptionalRaw;
use crate::{Borrowed, Value};

kind! {
    /// Optional value in host memory.
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
    /// Creates an owned optional, either with a value or unset.
    ///
    /// # Errors
    /// See [`Self::new`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn no_record() -> Result<UOptional<f64>, CallError> {
    ///     UOptional::of(None::<f64>)
    /// }
    ///
    /// fn record(seconds: f64) -> Result<UOptional<f64>, CallError> {
    ///     UOptional::of(Some(seconds))
    /// }
    /// assert!(record(12.5).is_err(), "a test of a plugin has no host");
    /// ```
    #[track_caller]
    pub fn of(value: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(value)
    }
}

impl<'f, T: Value> Borrowed<'f, UOptional<T>> {
    /// Returns `true` if the optional has a value.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.ptr().unwrap_or_else(|error| fail(error)).is_set()
    }

    /// Returns `true` if the optional is unset.
    #[must_use]
    pub fn is_none(&self) -> bool {
        !self.is_some()
    }

    /// Returns the value, or `None` if the optional is unset. A plain value is copied; a value of any other type is returned as a view.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn improve(best: &Borrowed<'_, UOptional<f64>>, seconds: f64) {
    ///     if best.get().is_none_or(|best| seconds < best) {
    ///         best.set(seconds);
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn get(&self) -> Option<T::Seen<'f>> {
        self.item_of_optional().unwrap_or_else(|error| fail(error))
    }

    /// Sets the value.
    pub fn set(&self, value: impl IntoHost<T>) {
        self.try_set(value).unwrap_or_else(|error| fail(error));
    }

    /// Sets the value.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the optional no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_set(&self, value: impl IntoHost<T>) -> Result<(), CallError> {
        put_optional(Some(&value), self.ptr_mut()?)
    }

    /// Removes and returns the value, or returns `None` if the optional is unset.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn deliver(order: &Borrowed<'_, UOptional<String>>) -> String {
    ///     order.take().unwrap_or_else(|| "nothing was ordered".to_owned())
    /// }
    /// ```
    pub fn take(&self) -> Option<T> {
        let value = self.to_option();
        self.clear();
        value
    }

    /// Removes the value, which leaves the optional unset.
    pub fn clear(&self) {
        self.assign(None::<T>);
    }

    /// Returns a copy of the value, or `None` if the optional is unset.
    #[must_use]
    pub fn to_option(&self) -> Option<T> {
        load_optional(self.ptr().unwrap_or_else(|error| fail(error)))
    }
}
