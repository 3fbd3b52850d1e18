//! Growable arrays of plain values for very frequent access. An array counts no borrows and creates no references to its values. The host
//! and plugins may therefore write an entry during a read of a different entry.
#![expect(unsafe_code, reason = "reads written entries of an allocation and frees it")]

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// Growable array of plain values. Game thread only.
#[derive(Debug)]
pub struct Row<T: Copy + 'static> {
    fresh: T,
    /// Existing entries, a prefix of `buffer`. Only this file uses the slices `entries` and `buffer`. When the allocation is freed, no copy
    /// of these slices exists.
    entries: Cell<&'static [Cell<T>]>,
    /// Allocated entries, leaked from a box until [`Row::free`]. Entries after the end of `entries` are never written. The system therefore
    /// does not have to provide memory for these entries.
    buffer: Cell<&'static [Cell<MaybeUninit<T>>]>,
}

impl<T: Copy + 'static> Row<T> {
    /// Creates an empty array. `fresh` is the value of new entries.
    pub fn new(fresh: T) -> Self {
        Self { fresh, entries: Cell::new(&[]), buffer: Cell::new(&[]) }
    }

    /// Returns the number of entries.
    #[inline]
    pub fn count(&self) -> u32 {
        self.entries.get().len() as u32
    }

    /// Returns an entry. Returns `None` if the entry does not exist.
    #[inline]
    pub fn get(&self, index: u32) -> Option<T> {
        self.entries.get().get(index as usize).map(Cell::get)
    }

    /// Overwrites an entry.
    ///
    /// # Panics
    /// Panics if the entry does not exist.
    #[inline]
    pub fn set(&self, index: u32, value: T) {
        let Some(entry) = self.entries.get().get(index as usize) else { panic!("entry {index} does not exist") };
        entry.set(value);
    }

    /// Returns the address of an entry. The entry does not have to exist.
    #[inline]
    pub fn at(&self, index: u32) -> *mut T {
        self.buffer.get().as_ptr().cast_mut().cast::<T>().wrapping_add(index as usize)
    }

    /// Appends one entry.
    #[inline]
    pub fn push(&self) {
        let count = self.entries.get().len();
        let mut buffer = self.buffer.get();
        if count == buffer.len() {
            buffer = self.grow();
        }
        buffer[count].set(MaybeUninit::new(self.fresh));
        // SAFETY: the buffer has the layout of a slice of `Cell<T>`.
        // Earlier calls wrote its first `count` entries, and this call wrote the next entry.
        // The buffer lives until `free`, which forgets the result of this function first.
        self.entries.set(unsafe { slice::from_raw_parts(buffer.as_ptr().cast(), count + 1) });
    }

    #[cold]
    fn grow(&self) -> &'static [Cell<MaybeUninit<T>>] {
        const { assert!(size_of::<T>() != 0, "an entry has bytes") };
        let entries = self.entries.get();
        let capacity =
            u32::try_from(entries.len() * 2).expect("a row has fewer entries than a number of 32 bits").max(64);
        let buffer = Box::leak(Box::<[T]>::new_uninit_slice(capacity as usize));
        let buffer: &'static [Cell<MaybeUninit<T>>] = Cell::from_mut(buffer).as_slice_of_cells();
        for (to, from) in buffer.iter().zip(entries) {
            to.set(MaybeUninit::new(from.get()));
        }
        self.free();
        self.buffer.set(buffer);
        buffer
    }

    fn free(&self) {
        self.entries.set(&[]);
        let old = self.buffer.replace(&[]);
        if !old.is_empty() {
            // SAFETY: `grow` leaked the slice from a box. This row was the only owner and no longer refers to the slice.
            // `get` and `set` keep no reference to an entry after they return.
            drop(unsafe { Box::from_raw(ptr::from_ref(old).cast_mut()) });
        }
    }
}

impl<T: Copy + 'static> Drop for Row<T> {
    fn drop(&mut self) {
        self.free();
    }
}
