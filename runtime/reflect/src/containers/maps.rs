//! Sets and maps: rows as an array has them, and a table that finds the row of a key by its hash.

use alcedo_abi::value::{ArrayRaw, MapRaw};

use super::{
    ContainerError, Found, Index, Keyed, KeyedMut, Rowed, destroy_row, key, move_row, parts, parts_mut, place,
};
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::values::map::Map;
use crate::values::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;

/// Rows of a container are found by scanning until there are more than so many; a table of them would cost more.
const SCANNED: u32 = 8;

/// The rows of a set or map, if it is one.
#[inline]
pub fn keyed(at: Ptr<'_>) -> Option<Keyed<'_>> {
    at.to::<Set>().map(Ref::keyed).or_else(|| at.to::<Map>().map(Ref::keyed))
}

/// The rows of a set or map, if it is one.
#[inline]
pub fn keyed_mut(at: PtrMut<'_>) -> Option<KeyedMut<'_>> {
    at.try_to::<Set>().map(Mut::keyed).or_else(|at| at.try_to::<Map>().map(Mut::keyed)).ok()
}

impl<'a, K: Rowed<Raw = MapRaw>> Ref<'a, K> {
    /// The rows, which are found by their keys.
    #[inline]
    pub(crate) fn keyed(self) -> Keyed<'a> {
        Keyed { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a, K: Rowed<Raw = MapRaw>> Mut<'a, K> {
    /// The rows, which are found by their keys.
    #[inline]
    pub(crate) fn keyed(self) -> KeyedMut<'a> {
        KeyedMut { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a> Keyed<'a> {
    /// The type of the keys.
    #[inline]
    pub fn key_type(self) -> &'a PropertyType {
        self.row.key
    }

    /// The row in which the key stands.
    ///
    /// # Panics
    /// When it is of another type than the keys are.
    pub fn find(self, wanted: Ptr<'_>) -> Option<u32> {
        let wanted = wanted.typed(self.row.key);
        let entries = self.rows().raw();
        let is_it = |at| key(self.row, place(&entries, self.row, at)).equal(wanted);
        match self.index() {
            None => (0..entries.len).find(|at| is_it(*at)),
            Some(index) => {
                let found = index.find(wanted.hashed(), |found| found.at < entries.len && is_it(found.at));
                found.map(|found| found.at)
            }
        }
    }

    /// How many rows there are.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "whoever asks wants the number")]
    pub fn len(self) -> u32 {
        self.rows().len()
    }

    /// The key in a row, and the value in a map; none where there is no such row.
    #[inline]
    pub fn get(self, at: u32) -> Option<(Ptr<'a>, Option<Ptr<'a>>)> {
        let raw = self.rows().raw();
        (at < raw.len).then(|| parts(self.row, place(&raw, self.row, at)))
    }

    /// Whether the two, which are of one type, have the same rows in any order.
    pub(crate) fn equal(self, other: Keyed<'_>) -> bool {
        let (one, two) = (self.rows(), Keyed { at: other.at, row: self.row });
        let second = two.rows().raw();
        one.len() == second.len
            && one.entries().all(|(key, value_of_one)| match two.find(key) {
                None => false,
                Some(at) => {
                    let (_key, value_of_two) = parts(self.row, place(&second, self.row, at));
                    value_of_one.zip(value_of_two).is_none_or(|(one, two)| one.equal(two))
                }
            })
    }
}

impl<'a> KeyedMut<'a> {
    /// The type of the keys.
    #[inline]
    pub fn key_type(&self) -> &'a PropertyType {
        self.row.key
    }

    /// The same, to read.
    #[inline]
    pub fn as_ref(&self) -> Keyed<'_> {
        Keyed { at: self.at, row: self.row }
    }

    /// The row in which the key stands, now if not before, and whether it is new; the value of a new one is zero. The key is
    /// copied. It may lie in a row of this very map, as a value or a part of one.
    ///
    /// # Errors
    /// When there is no room for one more; nothing is changed then.
    ///
    /// # Panics
    /// When the key is of another type than the keys are.
    pub fn insert(&mut self, wanted: Ptr<'_>) -> Result<(u32, bool), ContainerError> {
        let row = self.row;
        let wanted = wanted.typed(row.key);
        if let Some(at) = self.as_ref().find(wanted) {
            return Ok((at, false));
        }
        let mut rows = self.rows();
        let ArrayRaw { len: at, capacity, .. } = rows.raw();
        // The rows are about to move, and the key with them.
        let apart = (at == capacity).then(|| OwnedValue::copy_of(wanted));
        let wanted = apart.as_ref().map_or(wanted, OwnedValue::as_ptr);
        rows.splice(at, 0, 1)?;
        let fresh = place(&rows.raw(), row, at);
        parts_mut(row, fresh).0.copy_from(wanted);
        match self.index() {
            Some(index) => {
                let hash = key(row, fresh).hashed();
                index.insert_unique(hash, Found { hash, at }, |found| found.hash);
            }
            None if at >= SCANNED => self.build_index(),
            None => {}
        }
        Ok((at, true))
    }

    /// The value in a row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn value(&mut self, at: u32) -> Option<PtrMut<'_>> {
        let raw = self.rows().raw();
        assert!(at < raw.len, "there is no row {at}");
        parts_mut(self.row, place(&raw, self.row, at)).1
    }

    /// Takes a row out; the last one takes its place.
    ///
    /// # Errors
    /// When there is no such row.
    pub fn remove(&mut self, at: u32) -> Result<(), ContainerError> {
        let (row, raw) = (self.row, self.rows().raw());
        let ArrayRaw { len, epoch, .. } = raw;
        if at >= len {
            return Err(ContainerError::OutOfRange { at, count: 1, len });
        }
        let last = len - 1;
        let (gone, moved) = (place(&raw, row, at), place(&raw, row, last));
        if let Some(index) = self.index() {
            match index.find_entry(key(row, gone).hashed(), |found| found.at == at) {
                Ok(entry) => drop(entry.remove()),
                // The key was changed where it lies.
                Err(_) => index.retain(|found| found.at != at),
            }
            match index.find_mut(key(row, moved).hashed(), |found| found.at == last) {
                Some(found) => found.at = at,
                None => index.iter_mut().filter(|found| found.at == last).for_each(|found| found.at = at),
            }
        }
        destroy_row(row, gone);
        if at != last {
            move_row(row, gone, moved);
        }
        self.rows().set_raw(ArrayRaw { len: last, epoch: epoch.saturating_add(1), ..raw });
        Ok(())
    }

    /// Ends all rows and keeps their room.
    pub fn clear(&mut self) {
        self.rows().clear();
        self.set_index(None);
    }

    /// Overwrites the rows with copies of those of another, which is of the same type.
    pub(crate) fn copy_from(&mut self, from: Keyed<'_>) {
        self.set_index(None);
        self.rows().copy_from(from.rows());
        self.build_index_if_large();
    }

    /// Ends all rows and gives the memory back. The epoch goes on.
    pub(crate) fn destroy(&mut self) {
        self.set_index(None);
        self.rows().destroy();
    }

    /// Finds every row by its key again, when keys were changed where they lie. Of rows with one key the first stays.
    pub(crate) fn rekey(&mut self) {
        self.set_index(None);
        let (row, raw) = (self.row, self.rows().raw());
        let mut seen = Index::with_capacity(raw.len as usize);
        let mut twice = Vec::new();
        for at in 0..raw.len {
            let this = key(row, place(&raw, row, at));
            let hash = this.hashed();
            if seen.find(hash, |other| key(row, place(&raw, row, other.at)).equal(this)).is_some() {
                twice.push(at);
            } else {
                seen.insert_unique(hash, Found { hash, at }, |found| found.hash);
            }
        }
        for at in twice.into_iter().rev() {
            // From the last on, so the rows before stay where they are.
            let _done = self.remove(at);
        }
        self.build_index_if_large();
    }

    fn build_index_if_large(&mut self) {
        if self.rows().raw().len > SCANNED {
            self.build_index();
        }
    }

    /// A table of all rows, whose keys differ from each other.
    fn build_index(&mut self) {
        let (row, raw) = (self.row, self.rows().raw());
        let mut index = Index::with_capacity(raw.len as usize);
        for at in 0..raw.len {
            let hash = key(row, place(&raw, row, at)).hashed();
            index.insert_unique(hash, Found { hash, at }, |found| found.hash);
        }
        self.set_index(Some(index));
    }
}
