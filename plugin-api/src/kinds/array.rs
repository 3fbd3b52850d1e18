//! Arrays: rows of values of any type.

use alcedo_abi::value::ArrayRaw;
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, count, insert_into, owned};
use super::ptr::Ptr;
use super::row::Row;
use super::{kind, verbs};
use crate::{Lent, Value};

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
    fn row(&self) -> Result<Row<'_, T>, CallError> {
        self.ptr().map(Ptr::row)
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
        self.item(index)
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
        let array = self.ptr_mut()?;
        let row = array.as_ptr().row();
        value.put(row.get(index).ok_or_else(|| nothing_at(index, row.len))?)
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
        insert_into(&self.place()?, index, core::iter::once(value))
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
        let value = T::load(row.get(index).ok_or_else(|| nothing_at(index, row.len))?.as_ptr());
        self.take_out(index, 1)?;
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
            self.take_out(len, now - len).unwrap_or_else(|error| fail(error));
        }
    }

    /// Takes all values out.
    pub fn clear(&self) {
        self.truncate(0);
    }

    /// Makes room for `more` values.
    pub fn reserve(&self, more: usize) {
        let reserved = self.place().and_then(|array| verbs::array_reserve(&array, count(more)?));
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
        insert_into(&self.place()?, first, values.into_iter())
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
        let found = super::into_host::with_ptr::<T, _, _>(&value, |wanted| {
            // Comparing changes nothing.
            let row = self.row()?;
            for (index, at) in (0..row.len).map_while(|index| row.get(index)).enumerate() {
                if verbs::equal(at.as_ptr(), wanted)? {
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
        self.row().unwrap_or_else(|error| fail(error)).load()
    }

    fn take_out(&self, at: usize, values: usize) -> Result<(), CallError> {
        verbs::array_splice(&self.place()?, count(at)?, count(values)?, 0)
    }
}

#[cold]
fn nothing_at(index: usize, len: usize) -> CallError {
    CallError::other(format!("there is no value {index} in an array of {len}"))
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
