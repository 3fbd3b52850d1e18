//! Maps: values by key.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::hash::Hash;
use std::collections::{BTreeMap, HashMap};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::MapRaw;
use alcedo_abi::values::ValuePlace;
use alcedo_rt::{CallError, fail};

use super::into_host::{IntoHost, owned, with_raw};
use super::row::{Entries, Row};
use super::set::entries;
use super::temp::Temp;
use super::{ValidityToken, kind};
use crate::type_text::TypeText;
use crate::{Kind, Lent, Value, host};

kind! {
    /// Values by key, in host memory. The order is that of insertion until something is removed.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { ages: UMap<String, u32> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// let ages = this.open(&self.ages);
    /// ages.insert("Ada", 36);
    /// assert_eq!(ages.get("Ada"), Some(36));
    /// # } }
    /// ```
    UMap<K: Value, V: Value>, raw: MapRaw, kind: MAP, path: Path::<K, V>::TEXT.as_str(), literal: crate::value::NoDefault,
    pointer
}

/// The types of key and value as text.
pub(super) struct Path<K, V>(core::marker::PhantomData<(K, V)>);

impl<K: Value, V: Value> Path<K, V> {
    pub(super) const TEXT: &'static TypeText = &TypeText::joined(&[K::TYPE.as_str(), ", ", V::TYPE.as_str()]);
}

impl<K: Value, V: Value> UMap<K, V> {
    /// A map of these entries, which plugin code owns.
    ///
    /// # Errors
    /// As [`Self::new`].
    #[track_caller]
    pub fn of(entries: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(entries)
    }
}

/// Overwrites a map of type `M`.
///
/// # Safety
/// `target` is a live map of that type that may be written.
pub(super) unsafe fn put_entries<'a, M, K, V, G, H>(
    given: impl Iterator<Item = (&'a G, &'a H)>,
    target: *mut MapRaw,
) -> Result<(), CallError>
where
    M: Value<Raw = MapRaw>,
    K: Value,
    V: Value,
    G: IntoHost<K> + 'a,
    H: IntoHost<V> + 'a,
{
    let map = host::values::place::<M>(ObjectHandle::NONE, target)?;
    let mut fresh = Temp::<M>::zeroed();
    for (key, value) in given {
        // SAFETY: a live map of the type on this stack.
        unsafe { put_entry::<M, K, V, G, H>(ObjectHandle::NONE, fresh.at_mut(), key, value) }?;
    }
    // SAFETY: both are live maps of the type. The host overwrites, so that its counter goes on.
    unsafe { host::values::copy(&map, fresh.at().cast()) }
}

/// Puts one entry into a map of type `M`: whether its key is new.
///
/// # Safety
/// `target` is a live map of that type.
unsafe fn put_entry<M, K, V, G, H>(
    owner: ObjectHandle,
    target: *mut MapRaw,
    key: &G,
    value: &H,
) -> Result<bool, CallError>
where
    M: Value<Raw = MapRaw>,
    K: Value,
    V: Value,
    G: IntoHost<K> + ?Sized,
    H: IntoHost<V> + ?Sized,
{
    // What is given may lie in this very map, so it is taken before anything moves.
    let value = super::into_host::staged::<V, H>(value)?;
    // And what could still be refused is asked for, too.
    let whose = host::values::place::<V>(ObjectHandle::NONE, core::ptr::null_mut())?;
    let map = host::values::place::<M>(owner, target)?;
    // SAFETY: the map is live by contract, and the key for the closure.
    let (at, is_new) = with_raw::<K, G, _>(key, |key| unsafe { host::values::map_insert(&map, key.cast()) })?;
    // SAFETY: the map is live by contract.
    let place = unsafe { value_at::<K, V>(target, at) };
    if is_new {
        // SAFETY: the host has just put a value of zero bytes there.
        unsafe { value.move_to(place) };
    } else {
        let place = ValuePlace { at: place.cast(), ..whose };
        // SAFETY: both are live values of the type; that the map may be written was asked when the key was put in.
        unsafe { host::values::copy(&place, value.at().cast()) }?;
    }
    Ok(is_new)
}

/// Where the value of an entry lies.
///
/// # Safety
/// `map` is live and has an entry `at`.
unsafe fn value_at<K: Value, V: Value>(map: *const MapRaw, at: u32) -> *mut V::Raw {
    // SAFETY: promised by the caller.
    let row = unsafe { entries(map) };
    // SAFETY: as above.
    let row = unsafe { Row::of(row) };
    // SAFETY: as above.
    let entry = unsafe { row.at(at as usize, Entries::<K, V>::STRIDE) };
    // SAFETY: the value stands in the entry, at the next offset that suits it.
    unsafe { entry.add(Entries::<K, V>::VALUE) }.cast()
}

impl<'f, K: Value, V: Value> Lent<'f, UMap<K, V>> {
    fn row(&self) -> Result<Row, CallError> {
        // SAFETY: the map was looked at just now.
        let row = unsafe { entries(self.raw()?) };
        // SAFETY: as above.
        Ok(unsafe { Row::of(row) })
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row().unwrap_or_else(|error| fail(error)).len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key: a plain one as a copy, any other as a view.
    #[must_use]
    pub fn get(&self, key: impl IntoHost<K>) -> Option<V::Seen<'f>> {
        self.try_get(key).unwrap_or_else(|error| fail(error))
    }

    /// The value of a key.
    ///
    /// # Errors
    /// `EXPIRED` when the map itself is not there any more.
    pub fn try_get(&self, key: impl IntoHost<K>) -> Result<Option<V::Seen<'f>>, CallError> {
        let Some(at) = self.find(&key)? else { return Ok(None) };
        let raw = self.raw()?;
        // SAFETY: the map was looked at just now, and the entry was found in it.
        let value = unsafe { value_at::<K, V>(raw, at) };
        // SAFETY: a live value, as long as the token is good.
        Ok(Some(unsafe { V::see(value, || self.inside(raw)) }))
    }

    fn inside(&self, raw: *const MapRaw) -> ValidityToken<'f> {
        // SAFETY: the map was looked at by the caller.
        let row = unsafe { entries(raw) };
        // SAFETY: the row is live as long as the map's own token is good, and its counter tells of every move.
        unsafe { self.token().in_row(row) }
    }

    fn find(&self, key: &impl IntoHost<K>) -> Result<Option<u32>, CallError> {
        with_raw::<K, _, _>(key, |key| {
            let map = self.place()?;
            // SAFETY: the map was looked at just now, and the key is live for the closure.
            unsafe { host::values::map_find(&map, key.cast()) }
        })
    }

    /// Whether there is such a key.
    #[must_use]
    pub fn contains_key(&self, key: impl IntoHost<K>) -> bool {
        self.find(&key).unwrap_or_else(|error| fail(error)).is_some()
    }

    /// Puts a value under a key: whether the key is new.
    pub fn insert(&self, key: impl IntoHost<K>, value: impl IntoHost<V>) -> bool {
        self.try_insert(key, value).unwrap_or_else(|error| fail(error))
    }

    /// Puts a value under a key, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_insert(&self, key: impl IntoHost<K>, value: impl IntoHost<V>) -> Result<bool, CallError> {
        let raw = self.raw_mut()?;
        // SAFETY: the map was looked at just now.
        unsafe { put_entry::<UMap<K, V>, K, V, _, _>(self.token().owner(), raw, &key, &value) }
    }

    /// The value under a key, which `make` gives if there is none yet.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Thing {
    /// #     #[uproperty]
    /// #     scores: UMap<String, u32>,
    /// # }
    /// # fn show(this: This<'_, Thing>) {
    /// this.scores().or_insert_with("Ada", || 0);
    /// # }
    /// ```
    pub fn or_insert_with<G: IntoHost<V>>(
        &self,
        key: impl IntoHost<K> + Copy,
        make: impl FnOnce() -> G,
    ) -> V::Seen<'f> {
        if let Some(there) = self.get(key) {
            return there;
        }
        self.insert(key, make());
        self.get(key).unwrap_or_else(|| fail(CallError::other("a key that was just inserted is not there")))
    }

    /// Takes a key out with its value.
    pub fn remove(&self, key: impl IntoHost<K>) -> Option<V> {
        self.try_remove(key).unwrap_or_else(|error| fail(error))
    }

    /// Takes a key out with its value, or says why not.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`.
    pub fn try_remove(&self, key: impl IntoHost<K>) -> Result<Option<V>, CallError> {
        let Some(at) = self.find(&key)? else { return Ok(None) };
        // SAFETY: the map was looked at just now, and the entry was found in it.
        let value = unsafe { value_at::<K, V>(self.raw()?, at) };
        // SAFETY: a live value.
        let value = unsafe { V::load(value) };
        let map = self.place()?;
        // SAFETY: the map was looked at just now.
        unsafe { host::values::map_remove(&map, at) }?;
        Ok(Some(value))
    }

    /// Takes all entries out.
    pub fn clear(&self) {
        self.assign([] as [(K, V); 0]);
    }

    /// Puts entries in: all of them, or, where one is refused, none.
    pub fn extend<G: IntoHost<K>, H: IntoHost<V>>(&self, values: impl IntoIterator<Item = (G, H)>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Puts entries in, or says why not: the map is as it was then.
    ///
    /// # Errors
    /// `EXPIRED`; `DURING_REBUILD`; what a key or a value is refused for.
    pub fn try_extend<G: IntoHost<K>, H: IntoHost<V>>(
        &self,
        values: impl IntoIterator<Item = (G, H)>,
    ) -> Result<(), CallError> {
        let given: Vec<(G, H)> = values.into_iter().collect();
        let stage = |(key, value): &(G, H)| {
            Ok((super::into_host::staged::<K, G>(key)?, super::into_host::staged::<V, H>(value)?))
        };
        let entries = given.iter().map(stage).collect::<Result<Vec<_>, CallError>>()?;
        let (map, whose) = (self.place()?, host::values::place::<V>(ObjectHandle::NONE, core::ptr::null_mut())?);
        let before = self.row()?.len;
        let overwrite = |at: u32, value: *const V::Raw| {
            // SAFETY: the map was looked at just now, and the entry was found in it.
            let place = unsafe { value_at::<K, V>(self.raw()?, at) };
            // SAFETY: both are live values of the type; that the map may be written was asked when a key was put in.
            unsafe { host::values::copy(&ValuePlace { at: place.cast(), ..whose }, value.cast()) }
        };
        let mut overwritten: Vec<(u32, Temp<V>)> = Vec::new();
        let put = |(key, value): (Temp<K>, Temp<V>)| {
            // SAFETY: the map was looked at just now, and the key lives on this stack.
            let (at, is_new) = unsafe { host::values::map_insert(&map, key.at().cast()) }?;
            // SAFETY: the map was looked at just now, and has the entry.
            let place = unsafe { value_at::<K, V>(self.raw()?, at) };
            if is_new {
                // SAFETY: the host has just put a value of zero bytes there.
                unsafe { value.move_to(place) };
                return Ok(());
            }
            let mut old = Temp::<V>::zeroed();
            // SAFETY: both are live values of the type.
            unsafe { host::values::copy(&ValuePlace { at: old.at_mut().cast(), ..whose }, place.cast_const().cast()) }?;
            overwritten.push((at, old));
            overwrite(at, value.at())
        };
        entries.into_iter().try_for_each(put).or_else(|error| {
            for (at, old) in overwritten.iter().rev() {
                overwrite(*at, old.at())?;
            }
            // New ones stand behind those that were there, so the last ones go.
            for last in (before..self.row()?.len).rev() {
                // SAFETY: the map was looked at just now.
                unsafe { host::values::map_remove(&map, super::row::count(last)?) }?;
            }
            Err(error)
        })
    }

    /// The entries. Values may be changed where they lie, keys may not: a changed key is removed and inserted. A change of the
    /// map on the way fails the running call.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, K, V> {
        Iter { map: self, next: 0, token: None }
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = K::Seen<'f>> {
        self.iter().map(|(key, _value)| key)
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = V::Seen<'f>> {
        self.iter().map(|(_key, value)| value)
    }

    /// Copies of all entries.
    #[must_use]
    pub fn to_vec(&self) -> Vec<(K, V)> {
        let raw = self.raw().unwrap_or_else(|error| fail(error));
        // SAFETY: a live map, looked at just now.
        unsafe { load_entries(raw) }
    }

    /// Copies of all entries, in a map of std.
    #[must_use]
    pub fn to_hash_map(&self) -> HashMap<K, V>
    where
        K: Hash + Eq,
    {
        self.to_vec().into_iter().collect()
    }

    /// Copies of all entries, in a sorted map of std.
    #[must_use]
    pub fn to_btree_map(&self) -> BTreeMap<K, V>
    where
        K: Ord,
    {
        self.to_vec().into_iter().collect()
    }
}

/// Copies of all entries of a map.
///
/// # Safety
/// `map` is live and of these types.
pub(super) unsafe fn load_entries<K: Value, V: Value>(map: *const MapRaw) -> Vec<(K, V)> {
    // SAFETY: promised by the caller.
    let row = unsafe { entries(map) };
    // SAFETY: its row; keys stand first in their entries.
    let keys: Vec<K> = unsafe { super::row::load_row(row, Entries::<K, V>::STRIDE, 0) };
    // SAFETY: its row, which copying did not change.
    let values: Vec<V> = unsafe { super::row::load_row(row, Entries::<K, V>::STRIDE, Entries::<K, V>::VALUE) };
    keys.into_iter().zip(values).collect()
}

/// The entries of a map.
pub struct Iter<'a, 'f, K: Value, V: Value> {
    map: &'a Lent<'f, UMap<K, V>>,
    next: usize,
    token: Option<ValidityToken<'f>>,
}

impl<'f, K: Value, V: Value> Iterator for Iter<'_, 'f, K, V> {
    type Item = (K::Seen<'f>, V::Seen<'f>);

    fn next(&mut self) -> Option<Self::Item> {
        let raw = self.map.raw().unwrap_or_else(|error| fail(error));
        let token = *self.token.get_or_insert_with(|| self.map.inside(raw));
        token.check(super::lending::Access::Read, "iteration").unwrap_or_else(|error| fail(error));
        let row = self.map.row().unwrap_or_else(|error| fail(error));
        if self.next >= row.len {
            return None;
        }
        // SAFETY: the index is below the length that was read just now.
        let key = unsafe { row.at(self.next, Entries::<K, V>::STRIDE) };
        // SAFETY: the value stands in the entry, at the next offset that suits it.
        let value = unsafe { key.add(Entries::<K, V>::VALUE) };
        self.next += 1;
        // SAFETY: a live key, as long as that token is good.
        let key = unsafe { K::see(key.cast(), || token.as_key()) };
        // SAFETY: a live value, as long as that token is good.
        let value = unsafe { V::see(value.cast(), || token) };
        Some((key, value))
    }
}

impl<'a, 'f, K: Value, V: Value> IntoIterator for &'a Lent<'f, UMap<K, V>> {
    type Item = (K::Seen<'f>, V::Seen<'f>);
    type IntoIter = Iter<'a, 'f, K, V>;

    fn into_iter(self) -> Iter<'a, 'f, K, V> {
        self.iter()
    }
}

impl<K: Value, V: Value, G: IntoHost<K>, H: IntoHost<V>> FromIterator<(G, H)> for UMap<K, V> {
    /// The running call fails where a map cannot be made.
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = (G, H)>>(given: I) -> Self {
        let map = Self::default();
        for (key, value) in given {
            let at = map.owned().at().unwrap_or_else(|error| fail(error));
            // SAFETY: the host keeps the value while we own it.
            let put = unsafe { put_entry::<Self, K, V, G, H>(ObjectHandle::NONE, at, &key, &value) };
            put.unwrap_or_else(|error| fail(error));
        }
        map
    }
}

impl<K: Value + Hash + Eq, V: Value> From<&Lent<'_, UMap<K, V>>> for HashMap<K, V> {
    fn from(map: &Lent<'_, UMap<K, V>>) -> Self {
        map.to_hash_map()
    }
}

impl<K: Value + Ord, V: Value> From<&Lent<'_, UMap<K, V>>> for BTreeMap<K, V> {
    fn from(map: &Lent<'_, UMap<K, V>>) -> Self {
        map.to_btree_map()
    }
}
