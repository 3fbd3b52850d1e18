//! Sets and maps: rows as an array has them, and a table that finds the row of a key by its hash.
#![expect(unsafe_code, reason = "modules carry the address of a table that only the host reads")]

use alcedo_abi::value::{ArrayRaw, MapRaw};
use hashbrown::HashTable;

use super::{ContainerError, Rowed, Rows, RowsMut, destroy_row, key, key_mut, place, value, value_mut};
use crate::block;
use crate::nested::Row;
use crate::owned::OwnedValue;
use crate::property::PropertyType;
use crate::values::map::Map;
use crate::values::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;

/// Rows of a container are found by scanning until there are more than so many; a table of them would cost more.
const SCANNED: u32 = 8;

/// By the hash of a key, the row it stands in. The hash is kept, so that a table that grows reads no row: a key may have been
/// changed where it lies.
type Index = HashTable<Found>;

/// Where a key stands.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Its hash when it was put there.
    hash: u64,
    /// Its row.
    at: u32,
}

/// A set or map to read.
#[derive(Clone, Copy, Debug)]
pub struct Keyed<'a> {
    at: *const MapRaw,
    row: Row<'a>,
}

/// A set or map to read and write.
#[derive(Debug)]
pub struct KeyedMut<'a> {
    at: *mut MapRaw,
    row: Row<'a>,
}

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
    /// The rows.
    #[inline]
    fn rows(self) -> Rows<'a> {
        Rows { at: self.at.cast(), row: self.row }
    }

    fn index(self) -> Option<&'a Index> {
        // SAFETY: sets and maps are made in this file only, of pointers that were promised one that is not written
        // meanwhile. Only `set_index` writes an index, and it is a table of rows.
        unsafe { (*self.at).index.cast::<Index>().as_ref() }
    }

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

    /// Whether the two, which are of one type, have the same rows in any order.
    pub(crate) fn equal(self, other: Keyed<'_>) -> bool {
        let (one, two) = (self.rows(), Keyed { at: other.at, row: self.row });
        let second = two.rows().raw();
        one.len() == second.len
            && one.entries().all(|(key, value_of_one)| match two.find(key) {
                None => false,
                Some(at) => {
                    let value_of_two = value(self.row, place(&second, self.row, at));
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

    /// The rows. What is done with them is not done with the index.
    #[inline]
    pub(crate) fn rows(&mut self) -> RowsMut<'_> {
        RowsMut { at: self.at.cast(), row: self.row }
    }

    fn index(&mut self) -> Option<&mut Index> {
        // SAFETY: sets and maps are made in this file only, of pointers that were promised one that nothing else reads
        // or writes meanwhile. Only `set_index` writes an index, and it is a table of rows that nothing else refers to.
        unsafe { (*self.at).index.cast::<Index>().as_mut() }
    }

    fn set_index(&mut self, index: Option<Index>) {
        block::count(isize::from(index.is_some() as i8));
        let fresh = index.map_or(std::ptr::null_mut(), |index| Box::into_raw(Box::new(index)));
        // SAFETY: sets and maps are made in this file only, of pointers that were promised one to write. Only this function writes
        // an index, from such a box, and the map has just forgotten the old one.
        let old = unsafe {
            let old = std::mem::replace(&mut (*self.at).index, fresh.cast()).cast::<Index>();
            (!old.is_null()).then(|| Box::from_raw(old))
        };
        block::count(-isize::from(old.is_some() as i8));
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
        key_mut(row, fresh).copy_from(wanted);
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
    pub(crate) fn value(&mut self, at: u32) -> Option<PtrMut<'_>> {
        let raw = self.rows().raw();
        assert!(at < raw.len, "there is no row {at}");
        value_mut(self.row, place(&raw, self.row, at))
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
            // SAFETY: two rows below the length, apart from each other; one has ended, and the other is forgotten.
            unsafe { gone.copy_from_nonoverlapping(moved, row.size) };
        }
        self.rows().set_raw(ArrayRaw { len: last, epoch: epoch.saturating_add(1), ..raw });
        Ok(())
    }

    /// Ends all rows and keeps their room.
    pub(crate) fn clear(&mut self) {
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
