//! Rows of plain values that are looked at all the time: no borrow to count, no reference to a value ever, so one may be
//! written while another is read, by plugins too. A look compares the length and reads.
#![expect(unsafe_code, reason = "frees an allocation whose entries are copied in and out")]

use std::cell::Cell;
use std::ptr;

/// A row that grows, of plain values. Game thread only.
#[derive(Debug)]
pub struct Row<T: Copy + 'static> {
    /// What new entries are.
    fresh: T,
    /// The entries that are there: the first of the room. Copies of this and of the room do not leave this file, so they end
    /// before the room does.
    entries: Cell<&'static [Cell<T>]>,
    /// All that there is room for; behind the entries each is `fresh`. A box, lent until [`Row::free`].
    room: Cell<&'static [Cell<T>]>,
}

impl<T: Copy + 'static> Row<T> {
    /// An empty row, whose new entries will be `fresh`.
    pub fn new(fresh: T) -> Self {
        Self { fresh, entries: Cell::new(&[]), room: Cell::new(&[]) }
    }

    /// How many entries there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.entries.get().len() as u32
    }

    /// An entry, if it is there.
    #[inline]
    pub fn get(&self, index: u32) -> Option<T> {
        self.entries.get().get(index as usize).map(Cell::get)
    }

    /// Overwrites an entry.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn set(&self, index: u32, value: T) {
        let Some(entry) = self.entries.get().get(index as usize) else { panic!("there is no entry {index}") };
        entry.set(value);
    }

    /// The address of an entry, be it there or not.
    #[inline]
    pub fn at(&self, index: u32) -> *mut T {
        self.room.get().as_ptr().cast_mut().cast::<T>().wrapping_add(index as usize)
    }

    /// One entry more.
    #[inline]
    pub fn push(&self) {
        let len = self.entries.get().len() + 1;
        let entries = match self.room.get().get(..len) {
            Some(entries) => entries,
            None => &self.grow()[..len],
        };
        self.entries.set(entries);
    }

    /// More room, at least for one entry.
    #[cold]
    fn grow(&self) -> &'static [Cell<T>] {
        const { assert!(size_of::<T>() != 0, "an entry has bytes") };
        let entries = self.entries.get();
        let capacity =
            u32::try_from(entries.len() * 2).expect("a row has fewer entries than a number of 32 bits").max(64);
        let mut room = Vec::with_capacity(capacity as usize);
        room.extend_from_slice(entries);
        room.resize(capacity as usize, Cell::new(self.fresh));
        let room = &*Box::leak(room.into_boxed_slice());
        self.free();
        self.room.set(room);
        room
    }

    /// Ends the room, and all entries with it.
    fn free(&self) {
        self.entries.set(&[]);
        let gone = self.room.replace(&[]);
        if !gone.is_empty() {
            // SAFETY: `grow` leaked it from a box, the row has just forgotten it, and nothing but this row refers to it: `get` and
            // `set` are done with it when they return.
            drop(unsafe { Box::from_raw(ptr::from_ref(gone).cast_mut()) });
        }
    }
}

impl<T: Copy + 'static> Drop for Row<T> {
    fn drop(&mut self) {
        self.free();
    }
}
