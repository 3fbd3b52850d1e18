//! Rows of plain values that are looked at all the time: no borrow to count, no reference to an entry ever, so one may be
//! written while another is read, by plugins too. A look compares the length and reads.
#![expect(unsafe_code, reason = "owns an allocation whose entries are copied in and out")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

/// A row that grows, of plain values. Game thread only.
#[derive(Debug)]
pub struct Row<T: Copy> {
    /// What new entries are.
    fresh: T,
    start: Cell<NonNull<T>>,
    len: Cell<u32>,
    capacity: Cell<u32>,
}

impl<T: Copy> Row<T> {
    /// An empty row, whose new entries will be `fresh`.
    pub fn new(fresh: T) -> Self {
        Self { fresh, start: Cell::new(NonNull::dangling()), len: Cell::default(), capacity: Cell::default() }
    }

    /// How many entries there are.
    #[inline]
    pub fn count(&self) -> u32 {
        self.len.get()
    }

    /// An entry, if it is there.
    #[inline]
    pub fn get(&self, index: u32) -> Option<T> {
        if index >= self.len.get() {
            return None;
        }
        // SAFETY: the row has more entries than `index`; each is a value, and no reference to one is ever made.
        Some(unsafe { self.at(index).read() })
    }

    /// Overwrites an entry.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn set(&self, index: u32, value: T) {
        assert!(index < self.len.get(), "there is no entry {index}");
        // SAFETY: the row has more entries than `index`, and no reference to one is ever made.
        unsafe { self.at(index).write(value) };
    }

    /// The address of an entry, be it there or not.
    #[inline]
    pub fn at(&self, index: u32) -> *mut T {
        self.start.get().as_ptr().wrapping_add(index as usize)
    }

    /// One entry more.
    #[inline]
    pub fn push(&self) {
        if self.len.get() == self.capacity.get() {
            self.grow();
        }
        // SAFETY: there is room for one more, and no reference to an entry is ever made.
        unsafe { self.at(self.len.get()).write(self.fresh) };
        self.len.set(self.len.get() + 1);
    }

    #[cold]
    fn grow(&self) {
        let capacity = (self.capacity.get() * 2).max(64);
        const { assert!(size_of::<T>() != 0, "an entry has bytes") };
        let layout = Self::layout(capacity);
        // SAFETY: the layout has room for 64 entries at least, none of which is empty.
        let fresh = unsafe { alloc(layout) };
        let Some(fresh) = NonNull::new(fresh.cast::<T>()) else { handle_alloc_error(layout) };
        // SAFETY: the new row is apart from the old one and has room for all that is in that.
        unsafe { fresh.copy_from_nonoverlapping(self.start.get(), self.len.get() as usize) };
        self.free();
        self.start.set(fresh);
        self.capacity.set(capacity);
    }

    fn free(&self) {
        if self.capacity.get() != 0 {
            // SAFETY: `grow` allocated it with this layout, and nothing else frees it.
            unsafe { dealloc(self.start.get().as_ptr().cast(), Self::layout(self.capacity.get())) };
        }
    }

    fn layout(capacity: u32) -> Layout {
        Layout::array::<T>(capacity as usize).expect("a row is shorter than half the address space")
    }
}

impl<T: Copy> Drop for Row<T> {
    fn drop(&mut self) {
        self.free();
    }
}
