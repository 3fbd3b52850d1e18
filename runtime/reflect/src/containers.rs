//! The rows of arrays, sets and maps (and of lists of delegates) in memory of their own, one behind the other. They are moved as
//! bytes, which no kind of value minds; what a value is, its pointer says. An epoch is counted up by whatever moves a
//! value or ends one, so that an address taken before is known to be stale; the last count is kept.
#![expect(unsafe_code, reason = "the rows of containers are raw memory that plugins read too")]

mod error;
mod maps;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::num::NonZeroU32;
use std::ops::Range;
use std::ptr::NonNull;

use alcedo_abi::value::{ArrayRaw, MapRaw, SparseRaw};
use hashbrown::HashTable;

use crate::block;
use crate::held;
use crate::nested::Row;
use crate::property::{Property, PropertyType};
use crate::values::array::Array;
use crate::values::map::Map;
use crate::values::ptr::{Begins, Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;
use crate::values::{InMemory, Kind};

pub use error::ContainerError;
pub use maps::{keyed, keyed_mut};

/// A kind whose values are rows, which begin with an [`ArrayRaw`].
pub(crate) trait Rowed: Kind<Raw: Begins<ArrayRaw>> {
    /// How the rows lie. It is believed.
    fn row(of: &Self::Of) -> Row<'_>;
}

/// Rows to read.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    at: *const ArrayRaw,
    row: Row<'a>,
}

/// Rows to read and write.
#[derive(Debug)]
pub struct RowsMut<'a> {
    at: *mut ArrayRaw,
    row: Row<'a>,
}

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

/// The rows that there are, until one is moved or ends.
#[derive(Clone, Copy)]
struct Span<'a> {
    data: *mut u8,
    len: u32,
    row: Row<'a>,
}

/// A row that is there. Only [`Span`] makes one.
#[derive(Clone, Copy)]
struct RowPtr<'a> {
    at: *mut u8,
    row: Row<'a>,
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

/// The values of an array, if it is one.
#[inline]
pub fn array(value: PtrMut<'_>) -> Option<RowsMut<'_>> {
    value.to::<Array>().map(Mut::rows)
}

/// The values of an array to read, if it is one.
#[inline]
pub fn array_ref(value: Ptr<'_>) -> Option<Rows<'_>> {
    value.to::<Array>().map(Ref::rows)
}

/// Makes a container as old as if it had changed so many times, if it is one; whether it is. For tests of the oldest.
pub(crate) fn age(container: PtrMut<'_>, epoch: u64) -> bool {
    let array = container.try_to::<Array>().map(Mut::rows);
    let rows = array.or_else(|at| at.try_to::<Set>().map(Mut::rows)).or_else(|at| at.try_to::<Map>().map(Mut::rows));
    rows.map(|mut rows| rows.set_raw(ArrayRaw { epoch, ..rows.raw() })).is_ok()
}

impl<'a, K: Rowed> Ref<'a, K> {
    /// The rows.
    #[inline]
    pub(crate) fn rows(self) -> Rows<'a> {
        Rows { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a, K: Rowed> Mut<'a, K> {
    /// The rows.
    #[inline]
    pub(crate) fn rows(self) -> RowsMut<'a> {
        RowsMut { at: self.at().cast(), row: K::row(self.of()) }
    }
}

impl<'a> Rows<'a> {
    #[inline]
    fn raw(self) -> ArrayRaw {
        // SAFETY: rows are made in this module only, of pointers that were promised a value that begins with such, by the promise
        // of `Begins`.
        unsafe { self.at.read() }
    }

    /// How many there are.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "whoever asks wants the number")]
    pub fn len(self) -> u32 {
        self.raw().len
    }

    /// The value of an array or set in a row, or the key of a map; none where there is no such row.
    #[inline]
    pub fn get(self, at: u32) -> Option<Ptr<'a>> {
        self.span().get(at).map(RowPtr::key)
    }

    /// The sum of a number over all rows of an array of structs: of `field`, which is a field of that struct by its address. An
    /// enum counts as its number. None where the field is no number, or is no field of the rows.
    pub fn sum(self, field: &Property) -> Option<f64> {
        let PropertyType::Struct(of) = self.row.key else { return None };
        if !of.fields().iter().any(|known| std::ptr::eq(known, field)) {
            return None;
        }
        let number = match &field.ty {
            PropertyType::Enum(of) => of.underlying(),
            ty => ty,
        };
        let (raw, size) = (self.raw(), self.row.size);
        let first = raw.data.wrapping_add(field.offset as usize).cast_const();
        macro_rules! sum {
            ($($kind:ident: $rust:ty),*) => {
                match number {
                    $(PropertyType::$kind => (0..raw.len as usize)
                        // SAFETY: there are so many rows, each a struct with a number of this type at the offset of the field.
                        .map(|at| unsafe { first.wrapping_add(at * size).cast::<$rust>().read() } as f64)
                        .sum::<f64>(),)*
                    _ => return None,
                }
            };
        }
        // Numbers without fractions are exact in a float of this size up to 2^53.
        Some(sum!(U8: u8, U16: u16, U32: u32, U64: u64, I8: i8, I16: i16, I32: i32, I64: i64, F32: f32, F64: f64) + 0.0)
    }

    #[inline]
    fn span(self) -> Span<'a> {
        let ArrayRaw { data, len, .. } = self.raw();
        Span { data, len, row: self.row }
    }

    /// The values of an array or set, the keys of a map.
    #[inline]
    pub(crate) fn keys(self) -> impl Iterator<Item = Ptr<'a>> {
        self.span().iter().map(RowPtr::key)
    }

    /// Keys, and values where there are.
    #[inline]
    pub(crate) fn entries(self) -> impl Iterator<Item = (Ptr<'a>, Option<Ptr<'a>>)> {
        self.span().iter().map(RowPtr::parts)
    }

    /// The same as [`Rows::keys`], when they are of that kind.
    #[inline]
    pub(crate) fn keys_of<K: InMemory>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        self.all_of(false)
    }

    /// The values of a map, when they are of that kind.
    #[inline]
    pub(crate) fn values_of<K: InMemory>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        self.all_of(true)
    }

    /// All keys or all values, when there are such and they are of that kind.
    #[inline]
    fn all_of<K: InMemory>(self, are_values: bool) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        let (ty, at) = if are_values { self.row.value? } else { (self.row.key, 0) };
        let of = K::carried(ty)?;
        // SAFETY: as many rows as there are have a key or a value there each, whose kind that is.
        Some(self.span().iter().map(move |row| unsafe { Ref::new(row.at.wrapping_add(at), of) }))
    }
}

impl RowsMut<'_> {
    #[inline]
    fn as_rows(&self) -> Rows<'_> {
        Rows { at: self.at, row: self.row }
    }

    #[inline]
    fn raw(&self) -> ArrayRaw {
        self.as_rows().raw()
    }

    /// What it says of the rows is believed from now on.
    #[inline]
    fn set_raw(&mut self, raw: ArrayRaw) {
        // SAFETY: rows are made in this module only, of pointers that were promised a value to write that begins with such, by the
        // promise of `Begins`.
        unsafe { self.at.write(raw) };
    }

    /// Takes `remove` rows from `at` on out, and puts `insert` there that zero bytes mean.
    ///
    /// # Errors
    /// When there are not so many rows, or no room for them; nothing is changed then.
    pub fn splice(&mut self, at: u32, remove: u32, insert: u32) -> Result<(), ContainerError> {
        let old = self.raw();
        let Some(tail) = at.checked_add(remove).and_then(|end| old.len.checked_sub(end)) else {
            return Err(ContainerError::OutOfRange { at, count: remove, len: old.len });
        };
        let kept = old.len - remove;
        let len = kept.checked_add(insert).ok_or(ContainerError::TooLong { len: kept, more: insert })?;
        if len > old.capacity {
            self.grow(len)?;
        }
        self.end(at..at + remove);
        let (moved, rows, row) = (self.raw(), self.as_rows().span(), self.row);
        let moves = tail != 0 && remove != insert;
        // SAFETY: room for `len` rows is reserved, and there is a tail of so many by the check above; the two places of it may
        // overlap. What is overwritten has ended or was moved.
        unsafe {
            if moves {
                rows.address(at + insert).copy_from(rows.address(at + remove), tail as usize * row.size);
            }
            if insert != 0 {
                rows.address(at).write_bytes(0, insert as usize * row.size);
            }
        }
        let epoch = if moves || remove != 0 { moved.epoch.saturating_add(1) } else { moved.epoch };
        self.set_raw(ArrayRaw { len, epoch, ..moved });
        Ok(())
    }

    /// How many rows there are.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "whoever asks wants the number")]
    pub fn len(&self) -> u32 {
        self.as_rows().len()
    }

    /// The value in a row of an array; none where there is no such row.
    #[inline]
    pub fn get_mut(&mut self, at: u32) -> Option<PtrMut<'_>> {
        self.as_rows().span().get(at).map(|row| row.parts_mut().0)
    }

    /// Exchanges the values in two rows of an array; whether there are two such rows.
    pub fn swap(&mut self, one: u32, two: u32) -> bool {
        let (raw, rows) = (self.raw(), self.as_rows().span());
        let (Some(first), Some(second)) = (rows.get(one), rows.get(two)) else { return false };
        if one != two {
            // SAFETY: there are two such rows, which do not overlap, and values may be moved as bytes.
            unsafe { std::ptr::swap_nonoverlapping(first.at, second.at, self.row.size) };
            self.set_raw(ArrayRaw { epoch: raw.epoch.saturating_add(1), ..raw });
        }
        true
    }

    /// Makes room for so many rows more than there are.
    ///
    /// # Errors
    /// When there is no room for so many; nothing is changed then.
    pub fn reserve(&mut self, more: u32) -> Result<(), ContainerError> {
        let ArrayRaw { len, capacity, .. } = self.raw();
        let wanted = len.checked_add(more).ok_or(ContainerError::TooLong { len, more })?;
        if wanted <= capacity { Ok(()) } else { self.grow(wanted) }
    }

    /// Ends all rows and keeps their room.
    pub(crate) fn clear(&mut self) {
        // It cannot fail: there are as many, and none is added.
        let _done = self.splice(0, self.raw().len, 0);
    }

    /// So many new rows in place of those there are.
    pub(crate) fn refill(&mut self, count: usize) {
        let count = u32::try_from(count).expect("whoever fills a container has looked how many there are");
        self.clear();
        self.splice(0, 0, count).expect("there is memory for a second copy of what is in memory");
    }

    /// Overwrites all rows with copies of those of others, which are rows of the same types.
    pub(crate) fn copy_from(&mut self, from: Rows<'_>) {
        let (row, source) = (self.row, from.raw());
        self.clear();
        self.make_exactly(source.len);
        let fresh = self.raw();
        if source.len == 0 {
            return;
        }
        let owns = owns_memory(row);
        // SAFETY: room for as many rows was made, apart from the others, which are as many. Zeros are a value of every type, and
        // values that own nothing are copied by their bytes.
        unsafe {
            match owns {
                true => fresh.data.write_bytes(0, row.size * source.len as usize),
                false => fresh.data.copy_from_nonoverlapping(source.data, row.size * source.len as usize),
            }
        }
        self.set_raw(ArrayRaw { len: source.len, ..fresh });
        if owns {
            self.as_rows().span().iter().zip(from.span().iter()).for_each(|(to, from)| to.copy_from(from));
        }
    }

    /// Ends all rows and gives the memory back. The epoch goes on.
    pub(crate) fn destroy(&mut self) {
        self.clear();
        self.free();
    }

    /// The values of an array or set, the keys of a map. Keys that change must be found again.
    #[inline]
    pub(crate) fn keys(&mut self) -> impl Iterator<Item = PtrMut<'_>> {
        self.as_rows().span().iter().map(|row| row.parts_mut().0)
    }

    /// Keys, and values where there are. Keys that change must be found again.
    #[inline]
    pub(crate) fn entries(&mut self) -> impl Iterator<Item = (PtrMut<'_>, Option<PtrMut<'_>>)> {
        self.as_rows().span().iter().map(RowPtr::parts_mut)
    }

    /// The same as [`RowsMut::keys`], when they are of that kind.
    #[inline]
    pub(crate) fn keys_of<K: InMemory>(&mut self) -> Option<impl Iterator<Item = Mut<'_, K>>> {
        let of = K::carried(self.row.key)?;
        // SAFETY: as many rows as there are begin with a key each, whose kind that is, apart from each other.
        Some(self.as_rows().span().iter().map(move |row| unsafe { Mut::new(row.at, of) }))
    }

    /// The number by which a list of delegates is known while it is called; one that has none gets what `fresh` says.
    pub(crate) fn mark(&mut self, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        let raw = self.raw();
        NonZeroU32::new(raw.reserved).or_else(|| {
            let fresh = fresh()?;
            self.set_raw(ArrayRaw { reserved: fresh.get(), ..raw });
            Some(fresh)
        })
    }

    /// Frees what some rows own, which are there and are no values any more then.
    fn end(&mut self, gone: Range<u32>) {
        if !gone.is_empty() && owns_memory(self.row) {
            let rows = self.as_rows().span();
            gone.filter_map(|at| rows.get(at)).for_each(RowPtr::destroy);
        }
    }

    /// Room for `wanted` rows, or for twice as many as now: so growing one by one stays cheap.
    fn grow(&mut self, wanted: u32) -> Result<(), ContainerError> {
        let roomy = wanted.max(self.raw().capacity.saturating_mul(2)).max(4);
        // Twice as many may be too many where those that are needed are not.
        self.move_to(roomy).or_else(|_too_many| self.move_to(wanted))
    }

    /// Moves the rows to other memory, with room for `capacity` of them, which are no fewer than there are.
    fn move_to(&mut self, capacity: u32) -> Result<(), ContainerError> {
        let old = self.raw();
        let more = capacity - old.len;
        let data = take(self.row, capacity).ok_or(ContainerError::TooLong { len: old.len, more })?;
        let data = data.map_err(|layout| ContainerError::NoMemory { bytes: layout.size() })?.as_ptr();
        // SAFETY: there are as many rows, room for as many, and the new memory is apart from all other.
        unsafe { data.copy_from_nonoverlapping(old.data, self.row.size * old.len as usize) };
        self.free();
        self.set_raw(ArrayRaw { data, capacity, epoch: old.epoch.saturating_add(1), ..old });
        Ok(())
    }

    /// Room for exactly so many rows, where there are none.
    fn make_exactly(&mut self, count: u32) {
        let old = self.raw();
        if count <= old.capacity {
            return;
        }
        self.free();
        let data = take(self.row, count).expect("another container has as many");
        let data = data.unwrap_or_else(|layout| handle_alloc_error(layout)).as_ptr();
        self.set_raw(ArrayRaw { data, len: 0, capacity: count, epoch: old.epoch.saturating_add(1), ..old });
    }

    /// Gives the memory back, whose rows have ended or were moved, and leaves none. The epoch goes on.
    fn free(&mut self) {
        let old = self.raw();
        self.set_raw(ArrayRaw { epoch: old.epoch, reserved: old.reserved, ..ArrayRaw::EMPTY });
        if old.capacity != 0
            && let Some(layout) = layout(self.row, old.capacity)
        {
            block::count(-1);
            held::less(layout.size());
            // SAFETY: only `take` gives memory for rows, with this layout for so many, and these were just forgotten.
            unsafe { dealloc(old.data, layout) };
        }
    }
}

impl<'a> Keyed<'a> {
    /// The rows.
    #[inline]
    pub(crate) fn rows(self) -> Rows<'a> {
        Rows { at: self.at.cast(), row: self.row }
    }

    fn index(self) -> Option<&'a Index> {
        // SAFETY: sets and maps are made in this module only, of pointers that were promised one that is not written
        // meanwhile. Only `set_index` writes an index, and it is a table of rows.
        unsafe { (*self.at).index.cast::<Index>().as_ref() }
    }
}

impl KeyedMut<'_> {
    /// The rows. What is done with them is not done with the index.
    #[inline]
    pub(crate) fn rows(&mut self) -> RowsMut<'_> {
        RowsMut { at: self.at.cast(), row: self.row }
    }

    fn index(&mut self) -> Option<&mut Index> {
        // SAFETY: sets and maps are made in this module only, of pointers that were promised one that nothing else reads
        // or writes meanwhile. Only `set_index` writes an index, and it is a table of rows that nothing else refers to.
        unsafe { (*self.at).index.cast::<Index>().as_mut() }
    }

    fn set_index(&mut self, index: Option<Index>) {
        block::count(isize::from(index.is_some() as i8));
        let fresh = index.map_or(std::ptr::null_mut(), |index| Box::into_raw(Box::new(index)));
        // SAFETY: sets and maps are made in this module only, of pointers that were promised one to write. Only this function writes
        // an index, from such a box, and the map has just forgotten the old one.
        let old = unsafe {
            let old = std::mem::replace(&mut (*self.at).index, fresh.cast()).cast::<Index>();
            (!old.is_null()).then(|| Box::from_raw(old))
        };
        block::count(-isize::from(old.is_some() as i8));
    }
}

impl<'a, K: Kind<Raw = SparseRaw>> Ref<'a, K> {
    /// The list that is there, which is one of the kind `L`; none where there mostly is none.
    pub(crate) fn list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(self) -> Option<Ref<'a, L>> {
        let list = self.raw().list;
        // SAFETY: the pointer was promised a value whose list, if it is there, is rows as its type says.
        (!list.is_null()).then(|| unsafe { Ref::new(list.cast(), self.of()) })
    }
}

impl<K: Kind<Raw = SparseRaw>> Mut<'_, K> {
    /// The list, made if there is none.
    pub(crate) fn list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) -> Mut<'_, L> {
        let mut list = self.raw().list;
        if list.is_null() {
            block::count(1);
            list = Box::into_raw(Box::new(ArrayRaw::EMPTY));
        }
        // SAFETY: the pointer was promised a value to write, whose list, if it is there, is rows as its type says, and nobody
        // else's; that of one without was just made.
        unsafe {
            self.at().cast::<SparseRaw>().write(SparseRaw { list });
            Mut::new(list.cast(), self.of())
        }
    }

    /// The list, if there is one.
    pub(crate) fn list_if_any<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) -> Option<Mut<'_, L>> {
        (!self.raw().list.is_null()).then(|| self.list())
    }

    /// Ends the list.
    pub(crate) fn drop_list<L: Rowed<Raw = ArrayRaw, Of = K::Of>>(&self) {
        let list = self.raw().list;
        if list.is_null() {
            return;
        }
        self.list::<L>().rows().destroy();
        self.zero();
        block::count(-1);
        // SAFETY: only `list` makes a list, from such a box, and the value has just forgotten it.
        drop(unsafe { Box::from_raw(list) });
    }
}

impl<'a> Span<'a> {
    /// Returns the address of a row, present or not.
    #[inline]
    fn address(self, at: u32) -> *mut u8 {
        self.data.wrapping_add(at as usize * self.row.size)
    }

    /// A row, if it is there.
    #[inline]
    fn get(self, at: u32) -> Option<RowPtr<'a>> {
        (at < self.len).then(|| RowPtr { at: self.address(at), row: self.row })
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = RowPtr<'a>> {
        (0..self.len).map(move |at| RowPtr { at: self.address(at), row: self.row })
    }
}

impl<'a> RowPtr<'a> {
    /// Key and value.
    #[inline]
    fn parts(self) -> (Ptr<'a>, Option<Ptr<'a>>) {
        let Self { at, row } = self;
        // SAFETY: the row is there, begins with a key, and has the value (if any) at its offset.
        unsafe { (Ptr::new(at, row.key), row.value.map(|(value, offset)| Ptr::new(at.wrapping_add(offset), value))) }
    }

    /// Key and value, to write.
    #[inline]
    fn parts_mut(self) -> (PtrMut<'a>, Option<PtrMut<'a>>) {
        let Self { at, row } = self;
        let value = row.value.map(|(value, offset)| (at.wrapping_add(offset), value));
        // SAFETY: the row is there, begins with a key, and has the value (if any) at its offset, apart from the key. This module
        // writes rows only of containers that it may write, and uses one of each at a time.
        unsafe { (PtrMut::new(at, row.key), value.map(|(at, value)| PtrMut::new(at, value))) }
    }

    #[inline]
    fn key(self) -> Ptr<'a> {
        self.parts().0
    }

    fn destroy(self) {
        let (key, value) = self.parts_mut();
        key.destroy();
        if let Some(value) = value {
            value.destroy();
        }
    }

    /// Overwrites the row with a copy of another, apart from it.
    fn copy_from(self, from: RowPtr<'_>) {
        let ((to_key, to_value), (from_key, from_value)) = (self.parts_mut(), from.parts());
        to_key.copy_from(from_key);
        if let Some((to, from)) = to_value.zip(from_value) {
            to.copy_from(from);
        }
    }

    /// Moves the row to the place of one that has ended, apart from it. It is to be forgotten where it was.
    fn move_to(self, ended: RowPtr<'_>) {
        // SAFETY: both are rows of one container.
        unsafe { ended.at.copy_from_nonoverlapping(self.at, self.row.size) };
    }
}

fn owns_memory(row: Row<'_>) -> bool {
    row.key.owns_memory() || row.value.is_some_and(|(value, _)| value.owns_memory())
}

/// Rows of a struct without fields have no bytes, but a row has an address.
fn layout(row: Row<'_>, count: u32) -> Option<Layout> {
    Layout::from_size_align(row.size.checked_mul(count as usize)?.max(1), row.align).ok()
}

/// Memory for so many rows, not written yet; the layout when the system has no more, and nothing when there is none.
fn take(row: Row<'_>, count: u32) -> Option<Result<NonNull<u8>, Layout>> {
    let layout = layout(row, count)?;
    // SAFETY: `layout` makes none without bytes.
    let start = NonNull::new(unsafe { alloc(layout) });
    block::count(isize::from(start.is_some() as i8));
    held::more(start.map_or(0, |_| layout.size()));
    Some(start.ok_or(layout))
}

#[cfg(test)]
mod tests;
