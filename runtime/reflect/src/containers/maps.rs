//! Sets and maps. Both store their entries in rows, like an array, and have a hash table that maps keys to rows.

use alcedo_abi::value::{ArrayRaw, MapRaw};

use super::{ContainerError, Found, Index, Keyed, KeyedMut, RowPtr, Rowed, Rows, Span};
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::values::map::Map;
use crate::values::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;

/// Maximum number of entries of a set or map without a hash table. For so few entries, a scan is cheaper than a hash lookup.
const INDEX_THRESHOLD: u32 = 8;

/// Returns read access to a set or map. Returns `None` for other types.
#[inline]
pub fn keyed(at: Ptr<'_>) -> Option<Keyed<'_>> {
    at.to::<Set>().map(Ref::keyed).or_else(|| at.to::<Map>().map(Ref::keyed))
}

/// Returns write access to a set or map. Returns `None` for other types.
#[inline]
pub fn keyed_mut(at: PtrMut<'_>) -> Option<KeyedMut<'_>> {
    at.try_to::<Set>().map(Mut::keyed).or_else(|at| at.try_to::<Map>().map(Mut::keyed)).ok()
}

impl<'a, K: Rowed<Raw = MapRaw>> Ref<'a, K> {
    #[inline]
    pub(crate) fn keyed(self) -> Keyed<'a> {
        Keyed { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a, K: Rowed<Raw = MapRaw>> Mut<'a, K> {
    #[inline]
    pub(crate) fn keyed(self) -> KeyedMut<'a> {
        KeyedMut { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a> Keyed<'a> {
    /// Returns the type of the keys.
    #[inline]
    pub fn key_type(self) -> &'a PropertyType {
        self.row.key
    }

    /// Returns the index of the row that contains a key. Returns `None` if the key is missing.
    ///
    /// # Panics
    /// Panics if the type of `key` is not the key type.
    pub fn find(self, key: Ptr<'_>) -> Option<u32> {
        let key = key.typed(self.row.key);
        let rows = self.rows().span();
        let is_it = |at| rows.get(at).is_some_and(|row| row.key().equal(key));
        match self.index() {
            None => (0..rows.len).find(|at| is_it(*at)),
            Some(index) => index.find(key.hashed(), |found| is_it(found.at)).map(|found| found.at),
        }
    }

    /// Returns the number of keys.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "callers need the number")]
    pub fn len(self) -> u32 {
        self.rows().len()
    }

    /// Returns the key in row `at`. In a map, also returns the value of the key. Returns `None` if the row does not exist.
    #[inline]
    pub fn get(self, at: u32) -> Option<(Ptr<'a>, Option<Ptr<'a>>)> {
        self.rows().span().get(at).map(RowPtr::parts)
    }

    /// Checks if two containers of equal types have equal entries in any order.
    pub(crate) fn equal(self, other: Keyed<'_>) -> bool {
        let (one, two) = (self.rows(), Keyed { at: other.at, row: self.row });
        one.len() == two.len()
            && one.entries().all(|(key, value_of_one)| {
                let same = two.find(key).and_then(|at| two.get(at));
                same.is_some_and(|(_, value)| value_of_one.zip(value).is_none_or(|(one, two)| one.equal(two)))
            })
    }
}

impl<'a> KeyedMut<'a> {
    #[inline]
    fn span(&self) -> Span<'a> {
        Rows { at: self.at.cast(), row: self.row }.span()
    }

    /// Returns the type of the keys.
    #[inline]
    pub fn key_type(&self) -> &'a PropertyType {
        self.row.key
    }

    /// Returns read access to the set or map.
    #[inline]
    pub fn as_ref(&self) -> Keyed<'_> {
        Keyed { at: self.at, row: self.row }
    }

    /// Returns the index of the row that contains `key`, and `true` if the row is new. If the key is missing, inserts a copy of the key
    /// with a zero value. `key` may point into a row of this container.
    ///
    /// # Errors
    /// Fails if memory is exhausted, or if the row count would exceed the maximum. The container is then unchanged.
    ///
    /// # Panics
    /// Panics if the type of `key` is not the key type.
    pub fn insert(&mut self, key: Ptr<'_>) -> Result<(u32, bool), ContainerError> {
        let key = key.typed(self.row.key);
        if let Some(at) = self.as_ref().find(key) {
            return Ok((at, false));
        }
        let mut rows = self.rows();
        let ArrayRaw { len: at, capacity, .. } = rows.raw();
        // Copies the key, because growth moves the rows and `key` may point into a row.
        let copied = (at == capacity).then(|| OwnedValue::copy_of(key));
        let key = copied.as_ref().map_or(key, OwnedValue::as_ptr);
        rows.splice(at, 0, 1)?;
        let fresh = self.span().get(at).expect("it was made just now");
        fresh.parts_mut().0.copy_from(key);
        match self.index() {
            Some(index) => {
                let hash = fresh.key().hashed();
                index.insert_unique(hash, Found { hash, at }, |found| found.hash);
            }
            None if at >= INDEX_THRESHOLD => self.build_index(),
            None => {}
        }
        Ok((at, true))
    }

    /// Returns the value in row `at` of a map. Returns `None` for a set.
    ///
    /// # Panics
    /// Panics if the row does not exist.
    pub fn value(&mut self, at: u32) -> Option<PtrMut<'_>> {
        let row = self.span().get(at).unwrap_or_else(|| panic!("row {at} does not exist"));
        row.parts_mut().1
    }

    /// Removes row `at`, and moves the last row to index `at`.
    ///
    /// # Errors
    /// Fails if the row does not exist.
    pub fn remove(&mut self, at: u32) -> Result<(), ContainerError> {
        let (raw, span) = (self.rows().raw(), self.span());
        let ArrayRaw { len, epoch, .. } = raw;
        let last = len.saturating_sub(1);
        let (Some(removed), Some(moved)) = (span.get(at), span.get(last)) else {
            return Err(ContainerError::OutOfRange { at, count: 1, len });
        };
        if let Some(index) = self.index() {
            match index.find_entry(removed.key().hashed(), |found| found.at == at) {
                Ok(entry) => drop(entry.remove()),
                // The key was changed in its row after the row was indexed. A lookup by the current hash therefore does not find the entry.
                Err(_) => index.retain(|found| found.at != at),
            }
            // The last row does not move, and its entry is already removed. A search for this entry would visit the whole index.
            if at != last {
                match index.find_mut(moved.key().hashed(), |found| found.at == last) {
                    Some(found) => found.at = at,
                    None => index.iter_mut().filter(|found| found.at == last).for_each(|found| found.at = at),
                }
            }
        }
        removed.destroy();
        if at != last {
            moved.move_to(removed);
        }
        self.rows().set_raw(ArrayRaw { len: last, epoch: epoch.saturating_add(1), ..raw });
        Ok(())
    }

    /// Destroys all rows and keeps their capacity.
    pub fn clear(&mut self) {
        self.rows().clear();
        self.set_index(None);
    }

    /// Replaces all rows with copies of the rows of `from`. The rows of both containers must have equal types.
    pub(crate) fn copy_from(&mut self, from: Keyed<'_>) {
        self.set_index(None);
        self.rows().copy_from(from.rows());
        self.build_index_if_large();
    }

    /// Destroys all rows and frees their memory. Keeps the epoch.
    pub(crate) fn destroy(&mut self) {
        self.set_index(None);
        self.rows().destroy();
    }

    /// Rebuilds the hash table after keys were changed in their rows. If several rows have equal keys, keeps only the first of these rows.
    pub(crate) fn rekey(&mut self) {
        self.set_index(None);
        let rows = self.span();
        let mut seen = Index::with_capacity(rows.len as usize);
        let mut twice = Vec::new();
        for (at, this) in (0..).zip(rows.iter().map(RowPtr::key)) {
            let hash = this.hashed();
            if seen.find(hash, |other| rows.get(other.at).is_some_and(|other| other.key().equal(this))).is_some() {
                twice.push(at);
            } else {
                seen.insert_unique(hash, Found { hash, at }, |found| found.hash);
            }
        }
        for at in twice.into_iter().rev() {
            // Removes the rows in descending order, so that the indices of the remaining duplicates are still valid.
            let _done = self.remove(at);
        }
        self.build_index_if_large();
    }

    fn build_index_if_large(&mut self) {
        if self.span().len > INDEX_THRESHOLD {
            self.build_index();
        }
    }

    /// Builds the hash table of all rows. The keys of the rows must be distinct.
    fn build_index(&mut self) {
        let rows = self.span();
        let mut index = Index::with_capacity(rows.len as usize);
        for (at, row) in (0..).zip(rows.iter()) {
            let hash = row.key().hashed();
            index.insert_unique(hash, Found { hash, at }, |found| found.hash);
        }
        self.set_index(Some(index));
    }
}
