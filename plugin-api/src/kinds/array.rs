//! Arrays: rows of values of any type.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use alcedo_abi::value::ArrayRaw;
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, owned};
use super::kind;
use super::row::{Row, count, load_row};
use crate::{Lent, Value, host};

kind! {
    /// An array of values of any type, in host memory.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { list: UArray<f64> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// let list = this.open(&self.list);
    /// list.push(1.0);
    /// let sum = list.with_slice(|values| values.iter().sum::<f64>());
    /// # } }
    /// ```
    UArray<T: Value>, raw: ArrayRaw, kind: ARRAY, path: T::TYPE.as_str(), literal: crate::value::NoDefault, pointer
}

impl<T: Value> UArray<T> {
    /// An array of these values, which plugin code owns.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[track_caller]
    pub fn of(values: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(values)
    }
}

impl<'f, T: Value> Lent<'f, UArray<T>> {
    fn row(&self) -> Result<Row, CallError> {
        // SAFETY: the array was looked at just now.
        Ok(unsafe { Row::of(self.raw()?) })
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row().unwrap_or_else(|error| fail(error)).len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `index`: a plain one as a copy, any other as a view.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T::Seen<'f>> {
        self.try_get(index).unwrap_or_else(|error| fail(error))
    }

    /// The value at `index`.
    ///
    /// # Errors
    /// `EXPIRED` when the array itself is not there any more.
    pub fn try_get(&self, index: usize) -> Result<Option<T::Seen<'f>>, CallError> {
        let raw = self.raw()?;
        // SAFETY: the array was looked at just now.
        let row = unsafe { Row::of(raw) };
        if index >= row.len {
            return Ok(None);
        }
        // SAFETY: the index is below the length that was read just now.
        let at = unsafe { row.at(index, size_of::<T::Raw>()) };
        // SAFETY: the array is live as long as its own token is good, and its counter tells of every move.
        let token = || unsafe { self.token().in_row(raw) };
        // SAFETY: a live value, as long as that token is good.
        Ok(Some(unsafe { T::see(at.cast(), token) }))
    }

    /// The first value.
    #[must_use]
    pub fn first(&self) -> Option<T::Seen<'f>> {
        self.get(0)
    }

    /// The last value.
    #[must_use]
    pub fn last(&self) -> Option<T::Seen<'f>> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// Overwrites the value at `index`.
    pub fn set(&self, index: usize, value: impl IntoHost<T>) {
        self.try_set(index, value).unwrap_or_else(|error| fail(error));
    }

    /// Overwrites the value at `index`, or says why not.
    ///
    /// # Errors
    /// `OTHER` when the array has not so many; `EXPIRED`; `DURING_REBUILD`.
    pub fn try_set(&self, index: usize, value: impl IntoHost<T>) -> Result<(), CallError> {
        let raw = self.raw_mut()?;
        // SAFETY: the array was looked at just now.
        let row = unsafe { Row::of(raw) };
        if index >= row.len {
            return Err(CallError::other(format!("there is no value {index} in an array of {}", row.len)));
        }
        // SAFETY: the index is below the length that was read just now.
        let at = unsafe { row.at(index, size_of::<T::Raw>()) };
        // SAFETY: a live value, of an owner that may be written.
        unsafe { value.put(at.cast()) }
    }

    /// Adds a value at the end.
    pub fn push(&self, value: impl IntoHost<T>) {
        self.try_push(value).unwrap_or_else(|error| fail(error));
    }

    /// Adds a value at the end, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_push(&self, value: impl IntoHost<T>) -> Result<(), CallError> {
        self.try_insert(self.row()?.len, value)
    }

    /// Puts a value in at `index`; those behind it move up.
    pub fn insert(&self, index: usize, value: impl IntoHost<T>) {
        self.try_insert(index, value).unwrap_or_else(|error| fail(error));
    }

    /// Puts a value in at `index`, or says why not.
    ///
    /// # Errors
    /// `OTHER` when the array has not so many; `EXPIRED`; `DURING_REBUILD`.
    pub fn try_insert(&self, index: usize, value: impl IntoHost<T>) -> Result<(), CallError> {
        // What is given may lie in this very array, so it is taken before anything moves.
        let value = super::into_host::staged::<T, _>(&value)?;
        self.splice(index, 0, 1)?;
        // SAFETY: the array was looked at in `splice`, which put a value of zero bytes at the index.
        let at = unsafe { self.row()?.at(index, size_of::<T::Raw>()) };
        // SAFETY: a live value that owns nothing, overwritten by one whose owner gives it up.
        unsafe { value.move_to(at.cast()) };
        Ok(())
    }

    /// Takes the value at `index` out; those behind it move down.
    pub fn remove(&self, index: usize) -> T {
        self.try_remove(index).unwrap_or_else(|error| fail(error))
    }

    /// Takes the value at `index` out, or says why not.
    ///
    /// # Errors
    /// `OTHER` when the array has not so many; `EXPIRED`; `DURING_REBUILD`.
    pub fn try_remove(&self, index: usize) -> Result<T, CallError> {
        let row = self.row()?;
        if index >= row.len {
            return Err(CallError::other(format!("there is no value {index} in an array of {}", row.len)));
        }
        // SAFETY: the index is below the length that was read just now.
        let at = unsafe { row.at(index, size_of::<T::Raw>()) };
        // SAFETY: a live value.
        let value = unsafe { T::load(at.cast_const().cast()) };
        self.splice(index, 1, 0)?;
        Ok(value)
    }

    /// Takes the last value out.
    #[must_use = "`truncate` takes values out without giving them"]
    pub fn pop(&self) -> Option<T> {
        self.len().checked_sub(1).map(|last| self.remove(last))
    }

    /// Shortens the array to `len` values.
    pub fn truncate(&self, len: usize) {
        let now = self.len();
        if len < now {
            self.splice(len, now - len, 0).unwrap_or_else(|error| fail(error));
        }
    }

    /// Takes all values out.
    pub fn clear(&self) {
        self.truncate(0);
    }

    /// Makes room for `more` values.
    pub fn reserve(&self, more: usize) {
        let reserved = self.place().and_then(|array| {
            // SAFETY: the array was looked at just now.
            unsafe { host::values::array_reserve(&array, count(more)?) }
        });
        reserved.unwrap_or_else(|error| fail(error));
    }

    /// Adds values at the end: all of them, or, where one is refused, none.
    pub fn extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Adds values at the end, or says why not: the array is as it was then.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`; what a value is refused for.
    pub fn try_extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) -> Result<(), CallError> {
        // The iterator may do anything, also to this array. When all is in host form, there is nothing left to refuse.
        let values: Vec<G> = values.into_iter().collect();
        let values = values.iter().map(super::into_host::staged::<T, G>).collect::<Result<Vec<_>, _>>()?;
        let first = self.row()?.len;
        self.splice(first, 0, values.len())?;
        let row = self.row()?;
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: the array was looked at just now, and `splice` has put as many values of zero bytes there.
            let at = unsafe { row.at(first + index, size_of::<T::Raw>()) };
            // SAFETY: a live value that owns nothing, overwritten by one whose owner gives it up.
            unsafe { value.move_to(at.cast()) };
        }
        Ok(())
    }

    /// The values, one after the other. What the array becomes on the way is seen; a view that was given before may have
    /// expired then.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, T> {
        Iter { array: self, next: 0 }
    }

    /// Where the first value stands that equals this one.
    #[must_use]
    pub fn position(&self, value: impl IntoHost<T>) -> Option<usize> {
        let found = super::into_host::with_raw::<T, _, _>(&value, |wanted| {
            let row = self.row()?;
            for index in 0..row.len {
                // SAFETY: the index is below the length, and comparing changes nothing.
                let at = unsafe { row.at(index, size_of::<T::Raw>()) };
                // SAFETY: both are live values of the type.
                if unsafe { host::values::equal::<T>(at.cast_const().cast(), wanted) }? {
                    return Ok(Some(index));
                }
            }
            Ok(None)
        });
        found.unwrap_or_else(|error| fail(error))
    }

    /// Whether some value equals this one.
    #[must_use]
    pub fn contains(&self, value: impl IntoHost<T>) -> bool {
        self.position(value).is_some()
    }

    /// Copies of all values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: a live array, looked at just now.
        unsafe { load_row(raw, size_of::<T::Raw>(), 0) }
    }

    fn splice(&self, at: usize, remove: usize, insert: usize) -> Result<(), CallError> {
        let array = self.place()?;
        // SAFETY: the array was looked at just now; the host compares the numbers with its length.
        unsafe { host::values::array_splice(&array, count(at)?, count(remove)?, count(insert)?) }
    }
}

/// The values of an array, in order.
pub struct Iter<'a, 'f, T: Value> {
    array: &'a Lent<'f, UArray<T>>,
    next: usize,
}

impl<'f, T: Value> Iterator for Iter<'_, 'f, T> {
    type Item = T::Seen<'f>;

    fn next(&mut self) -> Option<T::Seen<'f>> {
        let value = self.array.get(self.next)?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.array.len().saturating_sub(self.next);
        (left, Some(left))
    }
}

impl<T: Value> ExactSizeIterator for Iter<'_, '_, T> {}

impl<'a, 'f, T: Value> IntoIterator for &'a Lent<'f, UArray<T>> {
    type Item = T::Seen<'f>;
    type IntoIter = Iter<'a, 'f, T>;

    fn into_iter(self) -> Iter<'a, 'f, T> {
        self.iter()
    }
}

impl<T: Value, G: IntoHost<T>> FromIterator<G> for UArray<T> {
    /// As [`UArray::of`]; the running call fails where that is refused.
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = G>>(values: I) -> Self {
        Self::of(values.into_iter().collect::<Vec<G>>()).unwrap_or_else(|error| fail(error))
    }
}

impl<T: Value, G: IntoHost<T>> From<Vec<G>> for UArray<T> {
    #[track_caller]
    fn from(values: Vec<G>) -> Self {
        Self::of(values).unwrap_or_else(|error| fail(error))
    }
}

impl<T: Value> From<&Lent<'_, UArray<T>>> for Vec<T> {
    fn from(array: &Lent<'_, UArray<T>>) -> Self {
        array.to_vec()
    }
}
