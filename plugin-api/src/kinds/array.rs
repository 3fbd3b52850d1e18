//! The kind `Array`: arrays in host memory.

use alcedo_abi::value::ArrayRaw;
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, count, insert_into, owned};
use super::ptr::Ptr;
use super::row::Row;
use super::{kind, verbs};
use crate::{Borrowed, Value};

kind! {
    /// Array of values of any type, in host memory.
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
    /// Creates an owned array from values.
    ///
    /// # Errors
    /// See [`Self::new`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Plugin part that has an owned list.
    /// struct Path {
    ///     points: UArray<f64>,
    /// }
    ///
    /// fn straight(length: f64) -> Result<Path, CallError> {
    ///     Ok(Path { points: UArray::of([0.0, length])? })
    /// }
    ///
    /// let error = straight(5.0).err().expect("a test of a plugin has no host");
    /// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
    /// ```
    #[track_caller]
    pub fn of(values: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(values)
    }
}

impl<'f, T: Value> Borrowed<'f, UArray<T>> {
    fn row(&self) -> Result<Row<'_, T>, CallError> {
        self.ptr().map(Ptr::row)
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row().unwrap_or_else(|error| fail(error)).len
    }

    /// Returns `true` if the array is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value at `index`, or `None` past the end. A plain value is copied; a value of any other type is returned as a view.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T::Seen<'f>> {
        self.try_get(index).unwrap_or_else(|error| fail(error))
    }

    /// Returns the value at `index`, or `None` past the end.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the array no longer exists.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn second(list: &Borrowed<'_, UArray<u32>>) -> Result<u32, CallError> {
    ///     Ok(list.try_get(1)?.unwrap_or(0))
    /// }
    /// ```
    pub fn try_get(&self, index: usize) -> Result<Option<T::Seen<'f>>, CallError> {
        self.item(index)
    }

    /// Returns the first value, or `None` for an empty array.
    #[must_use]
    pub fn first(&self) -> Option<T::Seen<'f>> {
        self.get(0)
    }

    /// Returns the last value, or `None` for an empty array.
    #[must_use]
    pub fn last(&self) -> Option<T::Seen<'f>> {
        self.len().checked_sub(1).and_then(|last| self.get(last))
    }

    /// Overwrites the value at `index`.
    pub fn set(&self, index: usize, value: impl IntoHost<T>) {
        self.try_set(index, value).unwrap_or_else(|error| fail(error));
    }

    /// Overwrites the value at `index`.
    ///
    /// # Errors
    /// Fails with `OTHER` if `index` is past the end, with `EXPIRED` if the array no longer exists, or with `DURING_REBUILD` while the host
    /// refuses writes to its owner.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn set_score(scores: &Borrowed<'_, UArray<u32>>, player: usize, score: u32) {
    ///     if let Err(error) = scores.try_set(player, score) {
    ///         eprintln!("no score for player {player}: {error}");
    ///     }
    /// }
    /// ```
    pub fn try_set(&self, index: usize, value: impl IntoHost<T>) -> Result<(), CallError> {
        let array = self.ptr_mut()?;
        let row = array.as_ptr().row();
        value.put(row.get(index).ok_or_else(|| nothing_at(index, row.len))?)
    }

    /// Appends a value.
    pub fn push(&self, value: impl IntoHost<T>) {
        self.try_push(value).unwrap_or_else(|error| fail(error));
    }

    /// Appends a value.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the array no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_push(&self, value: impl IntoHost<T>) -> Result<(), CallError> {
        self.try_insert(self.row()?.len, value)
    }

    /// Inserts a value at `index`, and moves the following values up by one index.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// /// Keeps the list sorted.
    /// fn add(scores: &Borrowed<'_, UArray<u32>>, score: u32) {
    ///     let index = scores.iter().position(|other| other > score).unwrap_or(scores.len());
    ///     scores.insert(index, score);
    /// }
    /// ```
    pub fn insert(&self, index: usize, value: impl IntoHost<T>) {
        self.try_insert(index, value).unwrap_or_else(|error| fail(error));
    }

    /// Inserts a value at `index`.
    ///
    /// # Errors
    /// Fails with `OTHER` if `index` is greater than the length, with `EXPIRED` if the array no longer exists, or with `DURING_REBUILD`
    /// while the host refuses writes to its owner.
    pub fn try_insert(&self, index: usize, value: impl IntoHost<T>) -> Result<(), CallError> {
        // The argument can be an element of this array, so it is copied before elements move.
        let value = super::into_host::staged::<T, _>(&value)?;
        insert_into(&self.location()?, index, core::iter::once(value))
    }

    /// Removes and returns the value at `index`, and moves the following values down by one index.
    pub fn remove(&self, index: usize) -> T {
        self.try_remove(index).unwrap_or_else(|error| fail(error))
    }

    /// Removes and returns the value at `index`.
    ///
    /// # Errors
    /// Fails with `OTHER` if `index` is past the end, with `EXPIRED` if the array no longer exists, or with `DURING_REBUILD` while the host
    /// refuses writes to its owner.
    pub fn try_remove(&self, index: usize) -> Result<T, CallError> {
        let row = self.row()?;
        let value = T::load(row.get(index).ok_or_else(|| nothing_at(index, row.len))?.as_ptr());
        self.take_out(index, 1)?;
        Ok(value)
    }

    /// Removes and returns the last value. Returns `None` for an empty array.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn undo(commands: &Borrowed<'_, UArray<String>>) -> String {
    ///     commands.pop().unwrap_or_else(|| "nothing to undo".to_owned())
    /// }
    /// ```
    #[must_use = "use `truncate` to remove values without returning them"]
    pub fn pop(&self) -> Option<T> {
        self.len().checked_sub(1).map(|last| self.remove(last))
    }

    /// Shortens the array to at most `len` values.
    pub fn truncate(&self, len: usize) {
        let now = self.len();
        if len < now {
            self.take_out(len, now - len).unwrap_or_else(|error| fail(error));
        }
    }

    /// Removes all values.
    pub fn clear(&self) {
        self.truncate(0);
    }

    /// Reserves capacity for at least `more` additional values.
    pub fn reserve(&self, more: usize) {
        let reserved = self.location().and_then(|array| verbs::array_reserve(&array, count(more)?));
        reserved.unwrap_or_else(|error| fail(error));
    }

    /// Appends all values. If the host rejects a value, the array is unchanged, and the running call fails.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn level_up(titles: &Borrowed<'_, UArray<String>>) {
    ///     titles.extend(["Knight", "Captain"]);
    ///     titles.extend((1..=3).map(|rank| format!("Rank {rank}")));
    /// }
    /// ```
    pub fn extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Appends all values. The array is unchanged if an error occurs.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the array no longer exists, with `DURING_REBUILD` while the host refuses writes to its owner, or with the
    /// error of a rejected value.
    pub fn try_extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) -> Result<(), CallError> {
        // The iterator may change this array. All values are converted to host form before the first insertion, so that a rejected value
        // leaves the array unchanged.
        let values: Vec<G> = values.into_iter().collect();
        let values = values.iter().map(super::into_host::staged::<T, G>).collect::<Result<Vec<_>, _>>()?;
        let first = self.row()?.len;
        insert_into(&self.location()?, first, values.into_iter())
    }

    /// Iterates over the values. Each step reads the current array, so code may change the array during iteration. A change can expire the
    /// views that the iterator has already returned.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn longest(names: &Borrowed<'_, UArray<UString>>) -> usize {
    ///     // Each element is a view of a string in host memory.
    ///     names.iter().map(|name| name.len()).max().unwrap_or(0)
    /// }
    /// ```
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, T> {
        Iter { array: self, next: 0 }
    }

    /// Returns the index of the first value that equals `value`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn remove_tag(tags: &Borrowed<'_, UArray<String>>, tag: &str) -> bool {
    ///     let Some(index) = tags.position(tag) else { return false };
    ///     tags.remove(index);
    ///     true
    /// }
    /// ```
    #[must_use]
    pub fn position(&self, value: impl IntoHost<T>) -> Option<usize> {
        let found = super::into_host::with_ptr::<T, _, _>(&value, |expected| {
            // `row` remains valid, because a comparison does not change the array.
            let row = self.row()?;
            for (index, at) in (0..row.len).map_while(|index| row.get(index)).enumerate() {
                if verbs::equal(at.as_ptr(), expected)? {
                    return Ok(Some(index));
                }
            }
            Ok(None)
        });
        found.unwrap_or_else(|error| fail(error))
    }

    /// Returns `true` if a value in the array equals `value`.
    #[must_use]
    pub fn contains(&self, value: impl IntoHost<T>) -> bool {
        self.position(value).is_some()
    }

    /// Returns copies of all values.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn sorted(scores: &Borrowed<'_, UArray<u32>>) -> Vec<u32> {
    ///     let mut copies = scores.to_vec();
    ///     copies.sort_unstable();
    ///     copies
    /// }
    /// ```
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.ptr().unwrap_or_else(|error| fail(error)).load_items()
    }

    fn take_out(&self, at: usize, values: usize) -> Result<(), CallError> {
        verbs::array_splice(&self.location()?, count(at)?, count(values)?, 0)
    }
}

#[cold]
fn nothing_at(index: usize, len: usize) -> CallError {
    CallError::other(format!("index {index} is out of bounds for an array of {len}"))
}

/// Iterator over the values of an array, in order.
pub struct Iter<'a, 'f, T: Value> {
    array: &'a Borrowed<'f, UArray<T>>,
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

impl<'a, 'f, T: Value> IntoIterator for &'a Borrowed<'f, UArray<T>> {
    type Item = T::Seen<'f>;
    type IntoIter = Iter<'a, 'f, T>;

    fn into_iter(self) -> Iter<'a, 'f, T> {
        self.iter()
    }
}

impl<T: Value, G: IntoHost<T>> FromIterator<G> for UArray<T> {
    /// Calls [`UArray::of`]. If an error occurs, the running call fails.
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
