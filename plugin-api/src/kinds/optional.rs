//! Optionals: a value or none.

use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, load_optional, owned, put_optional};
use super::kind;
use super::ptr::OptionalRaw;
use crate::{Lent, Value};

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

impl<'f, T: Value> Lent<'f, UOptional<T>> {
    /// Whether there is a value.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.ptr().unwrap_or_else(|error| fail(error)).is_set()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        !self.is_some()
    }

    /// The value: a plain one as a copy, any other as a view.
    #[must_use]
    pub fn get(&self) -> Option<T::Seen<'f>> {
        self.item_of_optional().unwrap_or_else(|error| fail(error))
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
        put_optional(Some(&value), self.ptr_mut()?)
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
        load_optional(self.ptr().unwrap_or_else(|error| fail(error)))
    }
}

impl<T: Value> From<&Lent<'_, UOptional<T>>> for Option<T> {
    fn from(optional: &Lent<'_, UOptional<T>>) -> Self {
        optional.to_option()
    }
}
