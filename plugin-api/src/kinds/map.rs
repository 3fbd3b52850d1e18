//! The kind `Map`: maps in host memory.

use core::hash::Hash;
use std::collections::{BTreeMap, HashMap};

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::type_text::TypeText;
use alcedo_abi::value::MapRaw;
use alcedo_rt::{CallError, fail};

use super::borrowed::Walk;
use super::into_host::{IntoHost, count, insert, owned, put_entry, with_ptr};
use super::kind;
use super::ptr::Temp;
use super::verbs;
use crate::{Borrowed, Kind, Value};

kind! {
    /// Map in host memory. Entries are in insertion order until an entry is removed.
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

/// Type arguments of a map as a string: the key's type, a separator, and the value's type.
pub(super) struct Path<K, V>(core::marker::PhantomData<(K, V)>);

impl<K: Value, V: Value> Path<K, V> {
    pub(super) const TEXT: &'static TypeText = &TypeText::joined(&[K::TYPE.as_str(), ", ", V::TYPE.as_str()]);
}

impl<K: Value, V: Value> UMap<K, V> {
    /// Creates an owned map from entries.
    ///
    /// # Errors
    /// See [`Self::new`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn prices() -> Result<UMap<String, u32>, CallError> {
    ///     UMap::of([("bread", 3), ("cheese", 7)])
    /// }
    ///
    /// let error = prices().err().expect("a test of a plugin has no host");
    /// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
    /// ```
    #[track_caller]
    pub fn of(entries: impl IntoHost<Self>) -> Result<Self, CallError> {
        owned(entries)
    }
}

impl<'f, K: Value, V: Value> Borrowed<'f, UMap<K, V>> {
    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ptr().unwrap_or_else(|error| fail(error)).keys().len
    }

    /// Returns `true` if the map is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key, or `None` if the key is missing. A plain value is copied; a value of any other type is returned as a
    /// view.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn price(prices: &Borrowed<'_, UMap<String, u32>>, ware: &str) -> u32 {
    ///     prices.get(ware).unwrap_or(10)
    /// }
    /// ```
    #[must_use]
    pub fn get(&self, key: impl IntoHost<K>) -> Option<V::Seen<'f>> {
        self.try_get(key).unwrap_or_else(|error| fail(error))
    }

    /// Returns the value of a key, or `None` if the key is missing. A plain value is copied; a value of any other type is returned as a
    /// view.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the map no longer exists.
    pub fn try_get(&self, key: impl IntoHost<K>) -> Result<Option<V::Seen<'f>>, CallError> {
        let Some(at) = self.find(&key)? else { return Ok(None) };
        self.value_at(at as usize)
    }

    fn find(&self, key: &impl IntoHost<K>) -> Result<Option<u32>, CallError> {
        with_ptr::<K, _, _>(key, |key| verbs::map_find(&self.location()?, key))
    }

    /// Returns `true` if the map contains the key.
    #[must_use]
    pub fn contains_key(&self, key: impl IntoHost<K>) -> bool {
        self.find(&key).unwrap_or_else(|error| fail(error)).is_some()
    }

    /// Inserts or overwrites the value of a key. Returns `true` if the key is new.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn join(ages: &Borrowed<'_, UMap<String, u32>>, name: &str, age: u32) {
    ///     if !ages.insert(name, age) {
    ///         tracing::info!("{name} was here before");
    ///     }
    /// }
    /// ```
    pub fn insert(&self, key: impl IntoHost<K>, value: impl IntoHost<V>) -> bool {
        self.try_insert(key, value).unwrap_or_else(|error| fail(error))
    }

    /// Inserts or overwrites the value of a key. Returns `true` if the key is new.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the map no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_insert(&self, key: impl IntoHost<K>, value: impl IntoHost<V>) -> Result<bool, CallError> {
        put_entry(self.token().owner(), &self.ptr_mut()?, &key, &value)
    }

    /// Returns the value of a key. If the key is missing, first inserts the key with the result of `make`.
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
        self.get(key).unwrap_or_else(|| fail(CallError::other("the inserted key has no entry")))
    }

    /// Removes a key and returns the key's value. Returns `None` if the key is missing.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn sell(stock: &Borrowed<'_, UMap<String, u32>>, ware: &str) -> u32 {
    ///     stock.remove(ware).unwrap_or(0)
    /// }
    /// ```
    pub fn remove(&self, key: impl IntoHost<K>) -> Option<V> {
        self.try_remove(key).unwrap_or_else(|error| fail(error))
    }

    /// Removes a key and returns the key's value. Returns `None` if the key is missing.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the map no longer exists, or with `DURING_REBUILD` while the host refuses writes to its owner.
    pub fn try_remove(&self, key: impl IntoHost<K>) -> Result<Option<V>, CallError> {
        let Some(at) = self.find(&key)? else { return Ok(None) };
        let value = self.ptr()?.values().get(at as usize).map(|value| V::load(value.as_ptr()));
        verbs::map_remove(&self.location()?, at)?;
        Ok(value)
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.assign([] as [(K, V); 0]);
    }

    /// Inserts all entries. If the host rejects an entry, the map is unchanged, and the running call fails.
    pub fn extend<G: IntoHost<K>, H: IntoHost<V>>(&self, values: impl IntoIterator<Item = (G, H)>) {
        self.try_extend(values).unwrap_or_else(|error| fail(error));
    }

    /// Inserts all entries. The map is unchanged if an error occurs.
    ///
    /// # Errors
    /// Fails with `EXPIRED` if the map no longer exists, with `DURING_REBUILD` while the host refuses writes to its owner, or with the
    /// error of a rejected key or value.
    pub fn try_extend<G: IntoHost<K>, H: IntoHost<V>>(
        &self,
        values: impl IntoIterator<Item = (G, H)>,
    ) -> Result<(), CallError> {
        let argument: Vec<(G, H)> = values.into_iter().collect();
        let stage = |(key, value): &(G, H)| {
            Ok((super::into_host::staged::<K, G>(key)?, super::into_host::staged::<V, H>(value)?))
        };
        let entries = argument.iter().map(stage).collect::<Result<Vec<_>, CallError>>()?;
        let (map, before) = (self.location()?, self.ptr()?.keys().len);
        verbs::type_number::<V>()?;
        let mut overwritten: Vec<(u32, Temp<V>)> = Vec::new();
        let put = |(key, value): (Temp<K>, Temp<V>)| {
            insert(&map, key.ptr(), value, |at, there, value| {
                overwritten.push((at, Temp::copy_of(there.as_ptr())?));
                // No check is needed here, because inserting the key has already checked that the map may be written.
                verbs::copy(&there.into_location(ObjectHandle::NONE)?, value.ptr())
            })
            .map(drop)
        };
        entries.into_iter().try_for_each(put).or_else(|error| {
            for (at, old) in overwritten.iter().rev() {
                if let Some(there) = self.ptr()?.values().get(*at as usize) {
                    verbs::copy(&there.into_location(ObjectHandle::NONE)?, old.ptr())?;
                }
            }
            // New entries follow the old entries, so removing all entries from index `before` on undoes the insertions.
            for last in (before..self.ptr()?.keys().len).rev() {
                verbs::map_remove(&map, count(last)?)?;
            }
            Err(error)
        })
    }

    /// Iterates over the entries. Values may be changed in place. To change a key, remove the entry, and insert the value under the new
    /// key. If an entry is moved or removed during iteration, the running call fails.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn total(prices: &Borrowed<'_, UMap<String, u32>>, stock: &Borrowed<'_, UMap<String, u32>>) -> u32 {
    ///     stock.iter().map(|(ware, count)| count * prices.get(ware).unwrap_or(0)).sum()
    /// }
    /// ```
    #[must_use]
    pub fn iter(&self) -> Iter<'_, 'f, K, V> {
        Iter(Walk::new(self))
    }

    /// Iterates over the keys.
    pub fn keys(&self) -> impl Iterator<Item = K::Seen<'f>> {
        self.iter().map(|(key, _value)| key)
    }

    /// Iterates over the values.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn clear_all(inventories: &Borrowed<'_, UMap<UName, UArray<String>>>) {
    ///     // Each value is a view of an array in host memory.
    ///     inventories.values().for_each(|inventory| inventory.clear());
    /// }
    /// ```
    pub fn values(&self) -> impl Iterator<Item = V::Seen<'f>> {
        self.iter().map(|(_key, value)| value)
    }

    /// Returns copies of all entries.
    #[must_use]
    pub fn to_vec(&self) -> Vec<(K, V)> {
        self.ptr().unwrap_or_else(|error| fail(error)).load_entries()
    }

    /// Returns copies of all entries in a [`HashMap`].
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use std::collections::HashMap;
    ///
    /// fn snapshot(prices: &Borrowed<'_, UMap<String, u32>>) -> HashMap<String, u32> {
    ///     prices.to_hash_map()
    /// }
    /// ```
    #[must_use]
    pub fn to_hash_map(&self) -> HashMap<K, V>
    where
        K: Hash + Eq,
    {
        self.to_vec().into_iter().collect()
    }

    /// Returns copies of all entries in a [`BTreeMap`].
    #[must_use]
    pub fn to_btree_map(&self) -> BTreeMap<K, V>
    where
        K: Ord,
    {
        self.to_vec().into_iter().collect()
    }
}

/// Iterator over the entries of a map.
pub struct Iter<'a, 'f, K: Value, V: Value>(Walk<'a, 'f, UMap<K, V>>);

impl<'f, K: Value, V: Value> Iterator for Iter<'_, 'f, K, V> {
    type Item = (K::Seen<'f>, V::Seen<'f>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.entry().unwrap_or_else(|error| fail(error))
    }
}

impl<'a, 'f, K: Value, V: Value> IntoIterator for &'a Borrowed<'f, UMap<K, V>> {
    type Item = (K::Seen<'f>, V::Seen<'f>);
    type IntoIter = Iter<'a, 'f, K, V>;

    fn into_iter(self) -> Iter<'a, 'f, K, V> {
        self.iter()
    }
}

impl<K: Value, V: Value, G: IntoHost<K>, H: IntoHost<V>> FromIterator<(G, H)> for UMap<K, V> {
    /// Creates an owned map. If the host cannot create the map, the running call fails.
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = (G, H)>>(argument: I) -> Self {
        let map = Self::default();
        for (key, value) in argument {
            let put = map.owned().ptr().and_then(|map| put_entry(ObjectHandle::NONE, &map, &key, &value));
            put.unwrap_or_else(|error| fail(error));
        }
        map
    }
}
