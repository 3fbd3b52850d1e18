//! The rows of arrays, sets and maps (and of lists of delegates) in memory of their own, one behind the other. They are moved as
//! bytes, which no kind of value minds; what a value is, its pointer says. An epoch is counted up by whatever moves a
//! value or ends one, so that an address taken before is known to be stale; the last count is kept.
#![expect(unsafe_code, reason = "the rows of containers are raw memory that plugins read too")]

mod maps;

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::num::NonZeroU32;
use std::ops::Range;
use std::ptr::NonNull;

use alcedo_abi::value::{ArrayRaw, SparseRaw};

use crate::block;
use crate::nested::Row;
use crate::values::Kind;
use crate::values::array::Array;
use crate::values::map::Map;
use crate::values::ptr::{Begins, Mut, Ptr, PtrMut, Ref};
use crate::values::set::Set;

pub use maps::{Keyed, KeyedMut, keyed, keyed_mut};

/// Why a container was not changed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContainerError {
    /// A place behind the end.
    #[error("{count} values from {at} on are more than the {len} there are: ask for the length first")]
    OutOfRange {
        /// The first.
        at: u32,
        /// How many.
        count: u32,
        /// How many there are.
        len: u32,
    },
    /// More than a container can hold.
    #[error("{more} values more than {len} are more than a container can hold: spread them over several")]
    TooLong {
        /// How many there are.
        len: u32,
        /// How many more.
        more: u32,
    },
    /// The system has no more memory.
    #[error("the system has no {bytes} bytes for a container: hold less")]
    NoMemory {
        /// How many were requested.
        bytes: usize,
    },
}

/// A kind whose values are rows, which begin with an [`ArrayRaw`].
pub(crate) trait Rowed: Kind<Raw: Begins<ArrayRaw>> {
    /// How the rows lie. It is believed.
    fn row(of: &Self::Of) -> Row<'_>;
}

/// Rows to read.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    at: *const ArrayRaw,
    row: Row<'a>,
}

/// Rows to read and write.
#[derive(Debug)]
pub struct RowsMut<'a> {
    at: *mut ArrayRaw,
    row: Row<'a>,
}

/// The values of an array, if it is one.
#[inline]
pub fn array(value: PtrMut<'_>) -> Option<RowsMut<'_>> {
    value.to::<Array>().map(Mut::rows)
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
    pub(crate) fn len(self) -> u32 {
        self.raw().len
    }

    #[inline]
    fn place(self, at: u32) -> *mut u8 {
        place(&self.raw(), self.row, at)
    }

    #[inline]
    fn places(self) -> impl Iterator<Item = *mut u8> {
        let raw = self.raw();
        (0..raw.len).map(move |at| place(&raw, self.row, at))
    }

    /// The values of an array or set, the keys of a map.
    #[inline]
    pub(crate) fn keys(self) -> impl Iterator<Item = Ptr<'a>> {
        self.places().map(move |place| key(self.row, place))
    }

    /// Keys, and values where there are.
    #[inline]
    pub(crate) fn entries(self) -> impl Iterator<Item = (Ptr<'a>, Option<Ptr<'a>>)> {
        self.places().map(move |place| (key(self.row, place), value(self.row, place)))
    }

    /// The same as [`Rows::keys`], when they are of that kind.
    #[inline]
    pub(crate) fn keys_of<K: Kind>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        let of = K::of(self.row.key)?;
        // SAFETY: as many rows as there are begin with a key each, whose kind that is.
        Some(self.places().map(move |place| unsafe { Ref::new(place, of) }))
    }

    /// The values of a map, when they are of that kind.
    #[inline]
    pub(crate) fn values_of<K: Kind>(self) -> Option<impl Iterator<Item = Ref<'a, K>>> {
        let (ty, at) = self.row.value?;
        let of = K::of(ty)?;
        // SAFETY: as many rows as there are have a value there each, whose kind that is.
        Some(self.places().map(move |place| unsafe { Ref::new(place.wrapping_add(at), of) }))
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
        let moved = self.raw();
        let (row, place) = (self.row, |at| place(&moved, self.row, at));
        let moves = tail != 0 && remove != insert;
        // SAFETY: room for `len` rows is reserved, and there is a tail of so many by the check above; the two places of it may
        // overlap. What is overwritten has ended or was moved.
        unsafe {
            if moves {
                place(at + insert).copy_from(place(at + remove), tail as usize * row.size);
            }
            if insert != 0 {
                place(at).write_bytes(0, insert as usize * row.size);
            }
        }
        let epoch = if moves || remove != 0 { moved.epoch.saturating_add(1) } else { moved.epoch };
        self.set_raw(ArrayRaw { len, epoch, ..moved });
        Ok(())
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
        if owns {
            for at in 0..source.len {
                copy_row(row, place(&fresh, row, at), place(&source, row, at));
            }
        }
        self.set_raw(ArrayRaw { len: source.len, ..fresh });
    }

    /// Ends all rows and gives the memory back. The epoch goes on.
    pub(crate) fn destroy(&mut self) {
        self.clear();
        self.free();
    }

    /// The values of an array or set, the keys of a map. Keys that change must be found again.
    #[inline]
    pub(crate) fn keys(&mut self) -> impl Iterator<Item = PtrMut<'_>> {
        let row = self.row;
        self.as_rows().places().map(move |place| key_mut(row, place))
    }

    /// Keys, and values where there are. Keys that change must be found again.
    #[inline]
    pub(crate) fn entries(&mut self) -> impl Iterator<Item = (PtrMut<'_>, Option<PtrMut<'_>>)> {
        let row = self.row;
        self.as_rows().places().map(move |place| (key_mut(row, place), value_mut(row, place)))
    }

    /// The same as [`RowsMut::keys`], when they are of that kind.
    #[inline]
    pub(crate) fn keys_of<K: Kind>(&mut self) -> Option<impl Iterator<Item = Mut<'_, K>>> {
        let of = K::of(self.row.key)?;
        // SAFETY: as many rows as there are begin with a key each, whose kind that is, apart from each other.
        Some(self.as_rows().places().map(move |place| unsafe { Mut::new(place, of) }))
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
            gone.for_each(|at| destroy_row(self.row, self.as_rows().place(at)));
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
        let layout = layout(self.row, capacity).ok_or(ContainerError::TooLong { len: old.len, more })?;
        let data = take(layout).ok_or(ContainerError::NoMemory { bytes: layout.size() })?.as_ptr();
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
        let layout = layout(self.row, count).expect("another container has as many");
        let data = take(layout).unwrap_or_else(|| handle_alloc_error(layout)).as_ptr();
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
            // SAFETY: only `move_to` and `make_exactly` reserve rows, by `take` with this layout, and these were just forgotten.
            unsafe { dealloc(old.data, layout) };
        }
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

#[inline]
fn place(raw: &ArrayRaw, row: Row<'_>, at: u32) -> *mut u8 {
    raw.data.wrapping_add(at as usize * row.size)
}

#[inline]
fn key(row: Row<'_>, place: *const u8) -> Ptr<'_> {
    // SAFETY: this module asks for places of such rows only, which begin with a key.
    unsafe { Ptr::new(place, row.key) }
}

#[inline]
fn value(row: Row<'_>, place: *const u8) -> Option<Ptr<'_>> {
    // SAFETY: this module asks for places of such rows only, where the value lies.
    row.value.map(|(value, at)| unsafe { Ptr::new(place.wrapping_add(at), value) })
}

#[inline]
fn key_mut(row: Row<'_>, place: *mut u8) -> PtrMut<'_> {
    // SAFETY: this module asks for places of such rows only, which begin with a key, and for each once at a time.
    unsafe { PtrMut::new(place, row.key) }
}

#[inline]
fn value_mut(row: Row<'_>, place: *mut u8) -> Option<PtrMut<'_>> {
    // SAFETY: this module asks for places of such rows only, where the value lies, and for each once at a time.
    row.value.map(|(value, at)| unsafe { PtrMut::new(place.wrapping_add(at), value) })
}

fn owns_memory(row: Row<'_>) -> bool {
    row.key.owns_memory() || row.value.is_some_and(|(value, _)| value.owns_memory())
}

fn destroy_row(row: Row<'_>, place: *mut u8) {
    key_mut(row, place).destroy();
    if let Some(value) = value_mut(row, place) {
        value.destroy();
    }
}

/// Overwrites a row with a copy of another, apart from it.
fn copy_row(row: Row<'_>, to: *mut u8, from: *const u8) {
    key_mut(row, to).copy_from(key(row, from));
    if let Some((to, from)) = value_mut(row, to).zip(value(row, from)) {
        to.copy_from(from);
    }
}

/// Rows of a struct without fields have no bytes, but a row has an address.
fn layout(row: Row<'_>, count: u32) -> Option<Layout> {
    Layout::from_size_align(row.size.checked_mul(count as usize)?.max(1), row.align).ok()
}

/// Bytes for rows, not written yet; `None` when the system has no more.
fn take(layout: Layout) -> Option<NonNull<u8>> {
    // SAFETY: the layout, which [`layout`] made, has at least one byte.
    let start = NonNull::new(unsafe { alloc(layout) });
    block::count(isize::from(start.is_some() as i8));
    start
}

#[cfg(test)]
mod tests;
