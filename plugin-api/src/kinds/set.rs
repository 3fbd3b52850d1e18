//! Sets: values, each once.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::hash::Hash;
use std::collections::{BTreeSet, HashSet};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::{ArrayRaw, MapRaw};
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, owned, with_raw};
use super::kind;
use super::row::{Row, load_row};
use crate::{Kind, Lent, Value, host};

kind! {
    /// A set of values, in host memory. Its order is that of insertion until something is removed.
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
    /// A set of these values, which plugin code owns.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[track_caller]
    pub fn of(values: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(values)
    }
}

/// The row of a set or map.
///
/// # Safety
/// `map` is live.
pub(super) unsafe fn entries(map: *const MapRaw) -> *const ArrayRaw {
    // SAFETY: promised by the caller; no reference is made, since the host changes the row.
    unsafe { &raw const (*map).entries }
}

/// Overwrites a set of type `S`.
///
/// # Safety
/// `target` is a live set of that type that may be written.
pub(super) unsafe fn put_keys<'a, S, T, G>(
    values: impl Iterator<Item = &'a G>,
    target: *mut MapRaw,
) -> Result<(), CallError>
where
    S: Value<Raw = MapRaw>,
    T: Value,
    G: IntoHost<T> + 'a,
{
    let set = host::values::place::<S>(ObjectHandle::NONE, target)?;
    let mut fresh = super::temp::Temp::<S>::zeroed();
    let new = host::values::place::<S>(ObjectHandle::NONE, fresh.at_mut())?;
    for value in values {
        // SAFETY: the place is the value on this stack, and the key is live for the closure.
        with_raw::<T, G, _>(value, |key| unsafe { host::values::map_insert(&new, key.cast()) })?;
    }
    // SAFETY: both are live sets of the type. The host overwrites, so that its counter goes on.
    unsafe { host::values::copy(&set, fresh.at().cast()) }
}

impl<'f, T: Value> Lent<'f, USet<T>> {
    fn row(&self) -> Result<Row, CallError> {
        // SAFETY: the set was looked at just now.
        let row = unsafe { entries(self.raw()?) };
        // SAFETY: as above.
        Ok(unsafe { Row::of(row) })
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

    /// Whether a value that equals this one is there.
    #[must_use]
    pub fn contains(&self, value: impl IntoHost<T>) -> bool {
        self.find(&value).unwrap_or_else(|error| fail(error)).is_some()
    }

    fn find(&self, value: &impl IntoHost<T>) -> Result<Option<u32>, CallError> {
        with_raw::<T, _, _>(value, |key| {
            self.raw()?;
            let set = self.place()?;
            // SAFETY: the set was looked at just now, and the key is live for the closure.
            unsafe { host::values::map_find(&set, key.cast()) }
        })
    }

    /// Adds a value: whether it was not there before.
    pub fn insert(&self, value: impl IntoHost<T>) -> bool {
        self.try_insert(value).unwrap_or_else(|error| fail(error))
    }

    /// Adds a value, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_insert(&self, value: impl IntoHost<T>) -> Result<bool, CallError> {
        with_raw::<T, _, _>(&value, |key| {
            let set = self.place()?;
            // SAFETY: the set was looked at just now, and the key is live for the closure.
            unsafe { host::values::map_insert(&set, key.cast()) }.map(|(_at, is_new)| is_new)
        })
    }

    /// Takes a value out: whether it was there.
    pub fn remove(&self, value: impl IntoHost<T>) -> bool {
        self.try_remove(value).unwrap_or_else(|error| fail(error))
    }

    /// Takes a value out, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_remove(&self, value: impl IntoHost<T>) -> Result<bool, CallError> {
        let Some(at) = self.find(&value)? else { return Ok(false) };
        let set = self.place()?;
        // SAFETY: the set was looked at just now.
        unsafe { host::values::map_remove(&set, at) }?;
        Ok(true)
    }

    /// Takes all values out.
    pub fn clear(&self) {
        self.assign([] as [T; 0]);
    }

    /// Adds values: all of them, or, where one is refused, none.
    pub fn extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Adds values, or says why not: the set is as it was then.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`; what a value is refused for.
    pub fn try_extend<G: IntoHost<T>>(&self, values: impl IntoIterator<Item = G>) -> Result<(), CallError> {
        let values: Vec<G> = values.into_iter().collect();
        let values = values.iter().map(super::into_host::staged::<T, G>).collect::<Result<Vec<_>, _>>()?;
        let set = self.place()?;
        let before = self.row()?.len;
        let insert = |value: &super::temp::Temp<T>| {
            // SAFETY: the set was looked at just now, and the key lives on this stack.
            unsafe { host::values::map_insert(&set, value.at().cast()) }.map(drop)
        };
        values.iter().try_for_each(insert).or_else(|error| {
            // New ones stand behind those that were there, so the last ones go.
            for last in (before..self.row()?.len).rev() {
                // SAFETY: the set was looked at just now.
                unsafe { host::values::map_remove(&set, super::row::count(last)?) }?;
            }
            Err(error)
        })
    }

    /// The values, to be read: to change one, take a clone of it, remove it, and insert the clone. A change of the set on the
    /// way fails the running call.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, T> {
        Iter { set: self, next: 0, epoch: None }
    }

    /// Copies of all values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.collect()
    }

    /// Copies of all values, in a set of std.
    #[must_use]
    pub fn to_hash_set(&self) -> HashSet<T>
    where
        T: Hash + Eq,
    {
        self.collect()
    }

    /// Copies of all values, in a sorted set of std.
    #[must_use]
    pub fn to_btree_set(&self) -> BTreeSet<T>
    where
        T: Ord,
    {
        self.collect()
    }

    fn collect<C: FromIterator<T>>(&self) -> C {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: a live set, looked at just now.
        let row = unsafe { entries(raw) };
        // SAFETY: its row, of keys alone.
        unsafe { load_row(row, size_of::<T::Raw>(), 0) }
    }
}

/// The values of a set.
pub struct Iter<'a, 'f, T: Value> {
    set: &'a Lent<'f, USet<T>>,
    next: usize,
    epoch: Option<super::ValidityToken<'f>>,
}

impl<'f, T: Value> Iterator for Iter<'_, 'f, T> {
    type Item = T::Seen<'f>;

    fn next(&mut self) -> Option<T::Seen<'f>> {
        let raw = self.set.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: the set was looked at just now.
        let row = unsafe { entries(raw) };
        // SAFETY: it is live as long as the set's own token is good, and its counter tells of every move.
        let token = *self.epoch.get_or_insert_with(|| unsafe { self.set.token().in_row(row) }.as_key());
        token.check(super::lending::Access::Read, "iteration").unwrap_or_else(|error| fail(error));
        // SAFETY: as above.
        let values = unsafe { Row::of(row) };
        if self.next >= values.len {
            return None;
        }
        // SAFETY: the index is below the length that was read just now.
        let at = unsafe { values.at(self.next, size_of::<T::Raw>()) };
        self.next += 1;
        // SAFETY: a live value, as long as that token is good.
        Some(unsafe { T::see(at.cast(), || token) })
    }
}

impl<'a, 'f, T: Value> IntoIterator for &'a Lent<'f, USet<T>> {
    type Item = T::Seen<'f>;
    type IntoIter = Iter<'a, 'f, T>;

    fn into_iter(self) -> Iter<'a, 'f, T> {
        self.iter()
    }
}

impl<T: Value, G: IntoHost<T>> FromIterator<G> for USet<T> {
    /// The running call fails where a set cannot be made.
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = G>>(values: I) -> Self {
        let set = Self::default();
        let place = |at| host::values::place::<Self>(ObjectHandle::NONE, at);
        let made = set.owned().at().and_then(place).and_then(|place| {
            values.into_iter().try_for_each(|value| {
                // SAFETY: the host keeps the value while we own it, and the key is live for the closure.
                with_raw::<T, G, _>(&value, |key| unsafe { host::values::map_insert(&place, key.cast()) })?;
                Ok(())
            })
        });
        made.unwrap_or_else(|error| fail(error));
        set
    }
}

impl<T: Value + Hash + Eq> From<&Lent<'_, USet<T>>> for HashSet<T> {
    fn from(set: &Lent<'_, USet<T>>) -> Self {
        set.to_hash_set()
    }
}

impl<T: Value + Ord> From<&Lent<'_, USet<T>>> for BTreeSet<T> {
    fn from(set: &Lent<'_, USet<T>>) -> Self {
        set.to_btree_set()
    }
}
