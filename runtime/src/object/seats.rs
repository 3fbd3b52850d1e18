//! The part of the store that is looked at most: what stands in each slot, in two rows without gaps. Plugins read the
//! first row by themselves, so it lies in memory of its own, to which nobody ever makes a reference; that is also why
//! the host may look at both while the rest of the store is borrowed.
#![expect(unsafe_code, reason = "rows of entries that plugins read while the host writes them between their calls")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use alcedo_abi::host::{Directory, DirectoryEntry};

use crate::handles::{ClassId, ObjectHandle};

/// What the floors above keep beside an object, for a look that goes nowhere else. The store copies it and knows no
/// meaning; all zero is nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(crate) struct Half {
    /// Which conjugate it is; zero is none.
    pub(crate) word: u64,
    /// Its part for `class`.
    pub(crate) part: *mut (),
    /// The most derived class that it has a part for.
    pub(crate) class: ClassId,
    /// Behind which door it is.
    pub(crate) door: u32,
}

impl Half {
    /// No conjugate.
    pub(crate) const NONE: Self = Self { word: 0, part: std::ptr::null_mut(), class: ClassId::NONE, door: 0 };
}

/// A half and whose it is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct HalfEntry {
    half: Half,
    /// The serial of the object; zero when none lives there.
    serial: u32,
}

/// The two rows, and the head by which plugins find the first.
#[derive(Debug)]
pub(super) struct Seats {
    entries: Row<DirectoryEntry>,
    halves: Row<HalfEntry>,
    /// Plugins know its address.
    head: NonNull<Directory>,
}

/// An entry of nothing: all zero bytes.
const NOBODY: DirectoryEntry = DirectoryEntry { serial: 0, class: ClassId::NONE, memory: std::ptr::null_mut() };

impl Seats {
    /// No slots.
    pub(super) fn new() -> Self {
        let head = Box::new(Directory { entries: std::ptr::null(), len: 0, ends: 0 });
        Self { entries: Row::new(), halves: Row::new(), head: NonNull::from(Box::leak(head)) }
    }

    /// Where plugins find the first row. The address stays as long as `self`.
    pub(super) fn head(&self) -> *const Directory {
        self.head.as_ptr()
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> u32 {
        self.entries.len.get()
    }

    /// What stands in a slot; an entry without a serial where nobody does.
    #[inline]
    pub(super) fn entry(&self, index: u32) -> DirectoryEntry {
        self.entries.get(index).unwrap_or(NOBODY)
    }

    /// The entry of an object, if its handle works.
    #[inline]
    pub(super) fn find(&self, object: ObjectHandle) -> Option<DirectoryEntry> {
        // A handle that names none has serial zero, and so has a slot where nobody lives.
        self.entries.get(object.index()).filter(|entry| entry.serial == object.serial() && entry.serial != 0)
    }

    /// What stands beside an object, if its handle works.
    #[inline]
    pub(super) fn half(&self, object: ObjectHandle) -> Option<Half> {
        let entry = self.halves.get(object.index())?;
        (entry.serial == object.serial() && entry.serial != 0).then_some(entry.half)
    }

    /// The address of an entry, to have it fetched before it is looked at; any address for a slot that there is not.
    #[inline]
    pub(super) fn address(&self, index: u32) -> *const DirectoryEntry {
        self.entries.at(index).cast_const()
    }

    /// One slot more, with nobody in it.
    pub(super) fn add(&self) {
        self.entries.push();
        self.halves.push();
        let (entries, len) = (self.entries.start.get().as_ptr().cast_const(), self.len());
        self.with_head(|head| Directory { entries, len, ..head });
    }

    /// Somebody stands in the slot now.
    pub(super) fn put(&self, index: u32, entry: DirectoryEntry, half: Half) {
        self.entries.set(index, entry);
        self.halves.set(index, HalfEntry { half, serial: entry.serial });
    }

    /// Nobody stands in the slot any more.
    pub(super) fn clear(&self, index: u32) {
        self.put(index, NOBODY, Half::NONE);
    }

    /// What stands beside the object in the slot is another thing now.
    pub(super) fn put_half(&self, index: u32, half: Half) {
        if index < self.len() {
            // The serial stays, unread: what was written just now in other pieces is slow to read.
            let first = self.halves.at(index).cast::<Half>();
            // SAFETY: the row has more entries than `index`, a half is what an entry begins with, and no reference to one is
            // ever made.
            unsafe { first.write(half) };
        }
    }

    /// Addresses inside some object are wrong from now on.
    pub(super) fn count_end(&self) {
        self.with_head(|head| Directory { ends: head.ends.wrapping_add(1), ..head });
    }

    fn with_head(&self, change: impl FnOnce(Directory) -> Directory) {
        // SAFETY: the head was leaked by `new` and is freed by `drop` alone; it is this thread's, and no reference to it is
        // ever made.
        let head = unsafe { self.head.as_ptr().read() };
        // SAFETY: as above.
        unsafe { self.head.as_ptr().write(change(head)) };
    }
}

impl Drop for Seats {
    fn drop(&mut self) {
        // SAFETY: `new` leaked this box, and modules, which know the address, end before their host does.
        drop(unsafe { Box::from_raw(self.head.as_ptr()) });
    }
}

/// A row that grows. Of `T`, zero bytes are a value.
#[derive(Debug)]
struct Row<T: Copy> {
    start: Cell<NonNull<T>>,
    len: Cell<u32>,
    capacity: Cell<u32>,
}

impl<T: Copy> Row<T> {
    fn new() -> Self {
        Self { start: Cell::new(NonNull::dangling()), len: Cell::default(), capacity: Cell::default() }
    }

    #[inline]
    fn get(&self, index: u32) -> Option<T> {
        if index >= self.len.get() {
            return None;
        }
        // SAFETY: the row has more entries than `index`; each is a value, and no reference to one is ever made.
        Some(unsafe { self.at(index).read() })
    }

    fn set(&self, index: u32, value: T) {
        assert!(index < self.len.get(), "there is no slot {index}");
        // SAFETY: the row has more entries than `index`, and no reference to one is ever made.
        unsafe { self.at(index).write(value) };
    }

    /// The address of an entry, be it there or not.
    #[inline]
    fn at(&self, index: u32) -> *mut T {
        self.start.get().as_ptr().wrapping_add(index as usize)
    }

    /// One entry more, of zero bytes.
    fn push(&self) {
        if self.len.get() == self.capacity.get() {
            self.grow();
        }
        self.len.set(self.len.get() + 1);
    }

    #[cold]
    fn grow(&self) {
        let capacity = (self.capacity.get() * 2).max(64);
        let layout = Self::layout(capacity);
        // SAFETY: the layout has room for 64 entries at least, none of which is empty.
        let fresh = unsafe { alloc_zeroed(layout) };
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
