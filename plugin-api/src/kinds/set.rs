//! The kind `Set`: sets of distinct values in host memory.

use core::hash::Hash;
use std::collections::{BTreeSet, HashSet};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::MapRaw;
use alcedo_rt::{CallError, fail};

use super::borrowed::Walk;
use super::into_host::{IntoHost, count, owned, with_ptr};
use super::kind;
use super::ptr::Temp;
use super::verbs;
use crate::{Borrowed, Kind, Value};

kind! {
    /// Set of values in host memory. Values are in insertion order until a value is removed.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { tags: USet<String> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// let tags = this.open(&self.tags);
    /// tags.insert("red");
    /// assert!(tags.contains("red"));
    /// # } }
    /// ```
    USet<T: Value>, raw: MapRaw, kind: SET, path: T::TYPE.as_str(), literal: crate::value::NoDefault, pointer
}

impl<T: Value> USet<T> {
    /// Creates an owned set from values.
    ///
    /// # Errors
    /// See [`Self::new`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn default_tags() -> USet<String> {
    ///     // Fails without a host, as in a plugin's tests.
    ///     USet::of(["new", "visible"]).unwrap_or_else(|error| panic!("no tags: {error}"))
    /// }
    /// ```
    #[track_caller]
    pub fn of(values: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(values)
    }
}

impl<'f, T: Value> Borrowed<'f, USet<T>> {
    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ptr().unwrap_or_else(|error| fail(error)).keys().len
    }

    /// Returns `true` if the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if a value of the set equals `value`.
    #[must_use]
    pub fn contains(&self, value: impl IntoHost<T>) -> bool {
        self.find(&value).unwrap_or_else(|error| fail(error)).is_some()
    }

    fn find(&self, value: &impl IntoHost<T>) -> Result<Option<u32>, CallError> {
        with_ptr::<T, _, _>(value, |key| {
            self.ptr()?;
            verbs::map_find(&self.location()?, key)
        })
    }

    /// Adds a value. Returns `true` if the set did not contain the value.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn discover(map: &Borrowed<'_, USet<String>>, town: &str) -> String {
    ///     if map.insert(town) { format!("{town} discovered") } else { format!("back in {town}") }
    /// }
    /// ```
    pub fn insert(&self, value: impl IntoHost<T>) -> bool {
        self.try_insert(value).unwrap_or_else(|error| fail(error))
    }

    /// Adds a value. Returns `true` if the set did not contain the value.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the set no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_insert(&self, value: impl IntoHost<T>) -> Result<bool, CallError> {
        with_ptr::<T, _, _>(&value, |key| verbs::map_insert(&self.location()?, key).map(|(_at, is_new)| is_new))
    }

    /// Removes a value. Returns `true` if the set contained the value.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn unlock(locks: &Borrowed<'_, USet<String>>, key: &str) -> bool {
    ///     locks.remove(key) && locks.is_empty()
    /// }
    /// ```
    pub fn remove(&self, value: impl IntoHost<T>) -> bool {
        self.try_remove(value).unwrap_or_else(|error| fail(error))
    }

    /// Removes a value. Returns `true` if the set contained the value.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the set no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_remove(&self, value: impl IntoHost<T>) -> Result<bool, CallError> {
        let Some(at) = self.find(&value)? else { return Ok(false) };
        verbs::map_remove(&self.location()?, at)?;
        Ok(true)
    }

    /// Removes all values.
    pub fn clear(&self) {
        self.assign([] as [T; 0]);
    }

    /// Adds all values. If the host rejects a value, the set is unchanged, and the running call fails.
    pub fn extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Adds all values. The set is unchanged if an error occurs.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the set no longer exists, with `DURING_REBUILD` while the host refuses writes to its owner, or with the
    /// error of a rejected value.
    pub fn try_extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) -> Result<(), CallError> {
        let values: Vec<G> = values.into_iter().collect();
        let values = values.iter().map(super::into_host::staged::<T, G>).collect::<Result<Vec<_>, _>>()?;
        let set = self.location()?;
        let before = self.ptr()?.keys().len;
        let insert = |value: &Temp<T>| verbs::map_insert(&set, value.ptr()).map(drop);
        values.iter().try_for_each(insert).or_else(|error| {
            // New values follow the old values, so removing all values from index `before` on undoes the insertions.
            for last in (before..self.ptr()?.keys().len).rev() {
                verbs::map_remove(&set, count(last)?)?;
            }
            Err(error)
        })
    }

    /// Iterates over the values. A value of a set cannot be changed in place: remove the value, and insert a changed clone. If a value is
    /// moved or removed during iteration, the running call fails.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn list(towns: &Borrowed<'_, USet<String>>) -> String {
    ///     let names: Vec<String> = towns.iter().collect();
    ///     names.join(", ")
    /// }
    /// ```
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, T> {
        Iter(Walk::new(self))
    }

    /// Returns copies of all values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.collect()
    }

    /// Returns copies of all values in a [`HashSet`].
    #[must_use]
    pub fn to_hash_set(&self) -> HashSet<T>
    where
        T: Hash + Eq,
    {
        self.collect()
    }

    /// Returns copies of all values in a [`BTreeSet`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn first_in_alphabet(towns: &Borrowed<'_, USet<String>>) -> Option<String> {
    ///     towns.to_btree_set().pop_first()
    /// }
    /// ```
    #[must_use]
    pub fn to_btree_set(&self) -> BTreeSet<T>
    where
        T: Ord,
    {
        self.collect()
    }

    fn collect<C: FromIterator<T>>(&self) -> C {
        self.ptr().unwrap_or_else(|error| fail(error)).load_keys().into_iter().collect()
    }
}

/// Iterator over the values of a set.
pub struct Iter<'a, 'f, T: Value>(Walk<'a, 'f, USet<T>>);

impl<'f, T: Value> Iterator for Iter<'_, 'f, T> {
    type Item = T::Seen<'f>;

    fn next(&mut self) -> Option<T::Seen<'f>> {
        self.0.key().unwrap_or_else(|error| fail(error))
    }
}

impl<'a, 'f, T: Value> IntoIterator for &'a Borrowed<'f, USet<T>> {
    type Item = T::Seen<'f>;
    type IntoIter = Iter<'a, 'f, T>;

    fn into_iter(self) -> Iter<'a, 'f, T> {
        self.iter()
    }
}

impl<T: Value, G: IntoHost<T>> FromIterator<G> for USet<T> {
    /// Creates an owned set. If the host cannot create the set, the running call fails.
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = G>>(values: I) -> Self {
        let set = Self::default();
        let made = set.owned().ptr().and_then(|set| set.into_location(ObjectHandle::NONE)).and_then(|location| {
            let insert = |value: G| with_ptr::<T, G, _>(&value, |key| verbs::map_insert(&location, key)).map(drop);
            values.into_iter().try_for_each(insert)
        });
        made.unwrap_or_else(|error| fail(error));
        set
    }
}
