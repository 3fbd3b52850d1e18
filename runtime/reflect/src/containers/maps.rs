//! Sets and maps: rows as an array has them, and a table that finds the row of a key by its hash.

use alcedo_abi::value::{ArrayRaw, MapRaw};

use super::{ContainerError, Found, Index, Keyed, KeyedMut, RowPtr, Rowed, Rows, Span};
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
        let rows = self.rows().span();
        let is_it = |at| rows.get(at).is_some_and(|row| row.key().equal(wanted));
        match self.index() {
            None => (0..rows.len).find(|at| is_it(*at)),
            Some(index) => index.find(wanted.hashed(), |found| is_it(found.at)).map(|found| found.at),
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
        self.rows().span().get(at).map(RowPtr::parts)
    }

    /// Whether the two, which are of one type, have the same rows in any order.
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
        let wanted = wanted.typed(self.row.key);
        if let Some(at) = self.as_ref().find(wanted) {
            return Ok((at, false));
        }
        let mut rows = self.rows();
        let ArrayRaw { len: at, capacity, .. } = rows.raw();
        // The rows are about to move, and the key with them.
        let apart = (at == capacity).then(|| OwnedValue::copy_of(wanted));
        let wanted = apart.as_ref().map_or(wanted, OwnedValue::as_ptr);
        rows.splice(at, 0, 1)?;
        let fresh = self.span().get(at).expect("it was made just now");
        fresh.parts_mut().0.copy_from(wanted);
        match self.index() {
            Some(index) => {
                let hash = fresh.key().hashed();
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
        let row = self.span().get(at).unwrap_or_else(|| panic!("there is no row {at}"));
        row.parts_mut().1
    }

    /// Takes a row out; the last one takes its place.
    ///
    /// # Errors
    /// When there is no such row.
    pub fn remove(&mut self, at: u32) -> Result<(), ContainerError> {
        let (raw, span) = (self.rows().raw(), self.span());
        let ArrayRaw { len, epoch, .. } = raw;
        let last = len.saturating_sub(1);
        let (Some(gone), Some(moved)) = (span.get(at), span.get(last)) else {
            return Err(ContainerError::OutOfRange { at, count: 1, len });
        };
        if let Some(index) = self.index() {
            match index.find_entry(gone.key().hashed(), |found| found.at == at) {
                Ok(entry) => drop(entry.remove()),
                // The key was changed where it lies.
                Err(_) => index.retain(|found| found.at != at),
            }
            match index.find_mut(moved.key().hashed(), |found| found.at == last) {
                Some(found) => found.at = at,
                None => index.iter_mut().filter(|found| found.at == last).for_each(|found| found.at = at),
            }
        }
        gone.destroy();
        if at != last {
            moved.move_to(gone);
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
            // From the last on, so the rows before stay where they are.
            let _done = self.remove(at);
        }
        self.build_index_if_large();
    }

    fn build_index_if_large(&mut self) {
        if self.span().len > SCANNED {
            self.build_index();
        }
    }

    /// A table of all rows, whose keys differ from each other.
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
