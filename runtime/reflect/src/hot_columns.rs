//! The part of the store that is looked at most: what stands in each slot, in rows without gaps. Plugins read the
//! first row by themselves, so it lies in memory of its own, to which no reference is ever made; that is also why
//! the host may look at all of them while the rest of the store is borrowed.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::host::{Directory, DirectoryEntry};
use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::row::Row;

/// What the floors above keep beside an object. The store copies it and does not interpret it; all zero means nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PluginPart {
    /// Which conjugate it is; zero is none.
    pub word: u64,
    /// Its part for its most derived class.
    part: *mut (),
    /// The number of that class, as wide as the other fields: what is copied along with padding just after it was written
    /// makes a processor wait, and two of these are for each construction.
    class: u64,
}

impl PluginPart {
    /// No conjugate.
    pub const NONE: Self = Self { word: 0, part: std::ptr::null_mut(), class: 0 };

    /// A conjugate without parts.
    #[inline]
    pub fn of(word: u64) -> Self {
        Self { word, ..Self::NONE }
    }

    /// The same with a part, which is for that class.
    #[inline]
    pub fn with_part(self, part: *mut (), class: ClassId) -> Self {
        Self { part, class: class.0.into(), ..self }
    }
}

/// The part that is asked most, of whom and for which class.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PartEntry {
    of: PartOf,
    part: *mut (),
}

/// The serial of an object, and the number of the class that it has a part for, in one word since they are read
/// together. Zero for an empty slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
struct PartOf(u64);

impl PartOf {
    #[inline]
    fn new(serial: u32, class: u64) -> Self {
        Self(u64::from(serial) << 32 | class)
    }
}

/// The rows, and the head by which plugins find the first.
#[derive(Debug)]
pub struct HotColumns {
    entries: Row<DirectoryEntry>,
    parts: Row<PartEntry>,
    /// The word of each conjugate: it leads to the parts that are not asked most.
    words: Row<u64>,
    /// Plugins hold its address, which never changes, since it lies in an `Rc`.
    head: Rc<Cell<Directory>>,
    /// Counts what is written to the rows.
    changes: Cell<u64>,
}

/// An entry of nothing: all zero bytes.
const NOBODY: DirectoryEntry = DirectoryEntry { serial: 0, class: ClassId::NONE, memory: std::ptr::null_mut() };

/// No part.
const NO_PART: PartEntry = PartEntry { of: PartOf(0), part: std::ptr::null_mut() };

impl HotColumns {
    /// No slots.
    pub(super) fn new() -> Self {
        let head = Rc::new(Cell::new(Directory { entries: std::ptr::null(), len: 0, ends: 0 }));
        Self { entries: Row::new(NOBODY), parts: Row::new(NO_PART), words: Row::new(0), head, changes: Cell::new(0) }
    }

    /// Where plugins find the first row. The address stays as long as `self`.
    #[inline]
    pub fn head(&self) -> *const Directory {
        self.head.as_ptr()
    }

    /// Another number whenever an object has begun or ended, or has another body or plugin part.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// How many objects have ended or got another body, as plugins see it.
    #[inline]
    pub fn ends(&self) -> u64 {
        self.head.get().ends
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> u32 {
        self.entries.count()
    }

    /// What stands in a slot; an entry without a serial for an empty one.
    #[inline]
    pub(super) fn entry(&self, index: u32) -> DirectoryEntry {
        self.entries.get(index).unwrap_or(NOBODY)
    }

    /// The entry of an object, if its handle works.
    #[inline]
    pub fn find(&self, object: ObjectHandle) -> Option<DirectoryEntry> {
        // A handle that names none has serial zero, and so has an empty slot.
        let entry = self.entries.get(object.index())?;
        // One comparison and one test of a word that is in a register: this is looked at in every call.
        if entry.serial == object.serial() && !object.is_none() { Some(entry) } else { None }
    }

    /// The part of an object, if its handle works and that is the class that the part is for.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: ClassId) -> Option<*mut ()> {
        // An object without a part has none for class zero, which is never looked up.
        debug_assert_ne!(class, ClassId::NONE);
        let entry = self.parts.get(object.index())?;
        (entry.of == PartOf::new(object.serial(), class.0.into())).then_some(entry.part)
    }

    /// What leads to all parts of an object; zero where its handle does not work, or there are none.
    #[inline]
    pub fn conjugate(&self, object: ObjectHandle) -> u64 {
        self.find(object).and_then(|_| self.words.get(object.index())).unwrap_or_default()
    }

    /// The address of an entry, to have it fetched before it is looked at; any address for a slot that there is not.
    #[inline]
    pub(super) fn address(&self, index: u32) -> *const DirectoryEntry {
        self.entries.at(index).cast_const()
    }

    /// Adds one empty slot.
    pub(super) fn add(&self) {
        self.entries.push();
        self.parts.push();
        self.words.push();
        let (entries, len) = (self.entries.at(0).cast_const(), self.len());
        self.with_head(|head| Directory { entries, len, ..head });
    }

    /// The slot has an object now.
    pub(super) fn put(&self, index: u32, entry: DirectoryEntry, plugin_part: PluginPart) {
        self.entries.set(index, entry);
        self.put_part(index, entry.serial, plugin_part);
    }

    /// The slot is empty now.
    pub(super) fn clear(&self, index: u32) {
        self.put(index, NOBODY, PluginPart::NONE);
    }

    /// What stands beside an object is another thing now.
    ///
    /// # Panics
    /// When there is no such slot.
    pub(super) fn put_plugin_part(&self, object: ObjectHandle, plugin_part: PluginPart) {
        self.put_part(object.index(), object.serial(), plugin_part);
    }

    fn put_part(&self, index: u32, serial: u32, plugin_part: PluginPart) {
        self.changes.set(self.changes.get() + 1);
        self.words.set(index, plugin_part.word);
        self.parts.set(index, PartEntry { of: PartOf::new(serial, plugin_part.class), part: plugin_part.part });
    }

    /// Addresses inside some object are wrong from now on.
    pub(super) fn count_end(&self) {
        self.with_head(|head| Directory { ends: head.ends.wrapping_add(1), ..head });
    }

    fn with_head(&self, change: impl FnOnce(Directory) -> Directory) {
        self.head.set(change(self.head.get()));
    }
}
