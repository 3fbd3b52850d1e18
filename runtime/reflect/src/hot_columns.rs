//! Cached columns with the most frequently read fields of the object store. Each column has one entry per slot. Plugins read the first
//! column directly. The column therefore has separate memory, and no Rust reference to this memory exists. The host may read the columns
//! during a borrow of the other fields of the store.

use std::cell::Cell;
use std::rc::Rc;

use alcedo_abi::host::{Directory, DirectoryEntry};
use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::row::Row;

/// Record of an object's plugin part, for higher layers. The store does not interpret the record. All fields are zero if the object has no
/// plugin part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PluginPart {
    /// Conjugate number. Zero if the object has no conjugate.
    pub word: u64,
    /// Pointer to the cached plugin part of the most derived class.
    part: *mut (),
    /// Id of the most derived class. The id is as wide as the other fields, so that the struct has no padding. A struct copy that includes
    /// padding would stall the processor directly after a write.
    class: u64,
}

impl PluginPart {
    /// Record of an object without a conjugate.
    pub const NONE: Self = Self { word: 0, part: std::ptr::null_mut(), class: 0 };

    /// Returns the record of a conjugate without a cached plugin part.
    #[inline]
    pub fn of(word: u64) -> Self {
        Self { word, ..Self::NONE }
    }

    /// Returns the pointer to the cached plugin part, and the id of its class.
    #[inline]
    pub(super) fn cached(self) -> (*mut (), ClassId) {
        (self.part, ClassId(self.class as u32))
    }

    /// Adds the plugin part for `class` to the record.
    #[inline]
    pub fn with_part(self, part: *mut (), class: ClassId) -> Self {
        Self { part, class: class.0.into(), ..self }
    }
}

/// Cached plugin part of the most derived class, with its owner and class id.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct PartEntry {
    of: PartOf,
    part: *mut (),
}

/// Serial number of an object, and class id of its cached plugin part. Both numbers share one machine word, because lookups read both
/// together. The serial is zero for an empty slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
struct PartOf(u64);

impl PartOf {
    #[inline]
    fn new(serial: u32, class: u64) -> Self {
        Self(u64::from(serial) << 32 | class)
    }

    #[inline]
    fn class(self) -> u64 {
        self.0 & u64::from(u32::MAX)
    }
}

// Limits the memory of the columns, because each object has an entry in each column.
const _: () = assert!(size_of::<DirectoryEntry>() + size_of::<PartEntry>() + size_of::<u64>() <= 40);

/// Cached columns and their head. The head contains the address of the first column, for plugins.
#[derive(Debug)]
pub struct HotColumns {
    entries: Row<DirectoryEntry>,
    parts: Row<PartEntry>,
    /// Conjugate number of each object, used to look up the plugin parts that are not cached.
    words: Row<u64>,
    /// Head of the columns. Plugins read the head at its address, which the `Rc` keeps stable.
    head: Rc<Cell<Directory>>,
    /// Number of writes to the columns.
    changes: Cell<u64>,
    /// Slots of the latest writes, indexed by the number of the write modulo `REMEMBERED`.
    recent: Box<[Cell<u32>; REMEMBERED]>,
}

/// Number of writes whose slots are stored in `recent`. A construction makes three writes. A destruction makes one write.
const REMEMBERED: usize = 256;

/// Entry of an empty slot. All bytes are zero.
const EMPTY_ENTRY: DirectoryEntry = DirectoryEntry { serial: 0, class: ClassId::NONE, memory: std::ptr::null_mut() };

const NO_PART: PartEntry = PartEntry { of: PartOf(0), part: std::ptr::null_mut() };

impl HotColumns {
    pub(super) fn new() -> Self {
        let head = Rc::new(Cell::new(Directory { entries: std::ptr::null(), len: 0, ends: 0 }));
        Self {
            entries: Row::new(EMPTY_ENTRY),
            parts: Row::new(NO_PART),
            words: Row::new(0),
            head,
            changes: Cell::new(0),
            recent: Box::new([const { Cell::new(0) }; REMEMBERED]),
        }
    }

    /// Returns the head of the columns, for plugins. The address of the head is stable. After the store is dropped, the head is empty.
    #[inline]
    pub fn head(&self) -> &Rc<Cell<Directory>> {
        &self.head
    }

    /// Returns a counter of changes. Each creation or destruction of an object, and each replacement of a body or plugin part, changes the
    /// counter.
    #[inline]
    pub fn changes(&self) -> u64 {
        self.changes.get()
    }

    /// Returns the slots that changed since [`HotColumns::changes`] returned `count`, in ascending order. Returns `None` after too many
    /// changes.
    pub(super) fn changed_since(&self, count: u64) -> Option<Vec<u32>> {
        let now = self.changes.get();
        now.checked_sub(count).filter(|changes| *changes <= REMEMBERED as u64)?;
        let mut slots: Vec<_> = (count..now).map(|at| self.recent[at as usize % REMEMBERED].get()).collect();
        slots.sort_unstable();
        slots.dedup();
        Some(slots)
    }

    /// Returns the counter that changes when an object is destroyed or a body is replaced. Plugins read this counter.
    #[inline]
    pub fn ends(&self) -> u64 {
        self.head.get().ends
    }

    pub(super) fn len(&self) -> u32 {
        self.entries.count()
    }

    /// Returns the entry of a slot in the first column. The serial of an empty slot is zero.
    #[inline]
    pub(super) fn entry(&self, index: u32) -> DirectoryEntry {
        self.entries.get(index).unwrap_or(EMPTY_ENTRY)
    }

    /// Returns the entry of an object if its handle is valid.
    #[inline]
    pub fn find(&self, object: ObjectHandle) -> Option<DirectoryEntry> {
        // The none handle and empty slots both have serial zero.
        let entry = self.entries.get(object.index())?;
        // Every call evaluates this condition, which compiles to a comparison and a register test.
        if entry.serial == object.serial() && !object.is_none() { Some(entry) } else { None }
    }

    /// Returns the cached plugin part of an object if its handle is valid and the plugin part is for `class`.
    #[inline]
    pub fn part(&self, object: ObjectHandle, class: ClassId) -> Option<*mut ()> {
        // Entries without a plugin part have class zero, so a lookup with class zero would return such an entry.
        debug_assert_ne!(class, ClassId::NONE);
        let entry = self.parts.get(object.index())?;
        (entry.of == PartOf::new(object.serial(), class.0.into())).then_some(entry.part)
    }

    /// Returns the conjugate number of an object. Returns zero if the handle is stale or the object has no conjugate.
    #[inline]
    pub fn conjugate(&self, object: ObjectHandle) -> u64 {
        self.find_conjugate(object).unwrap_or_default()
    }

    /// Variant of [`HotColumns::conjugate`] that returns `None` if the handle is stale.
    #[inline]
    pub(super) fn find_conjugate(&self, object: ObjectHandle) -> Option<u64> {
        self.find(object).and_then(|_| self.words.get(object.index()))
    }

    /// Returns the plugin part of the object in a slot. The object may be under construction.
    pub(super) fn plugin_part(&self, index: u32) -> PluginPart {
        let PartEntry { of, part } = self.parts.get(index).unwrap_or(NO_PART);
        PluginPart { word: self.words.get(index).unwrap_or_default(), part, class: of.class() }
    }

    /// Returns the address of an entry for prefetching. The address is arbitrary if the slot does not exist.
    #[inline]
    pub(super) fn address(&self, index: u32) -> *const DirectoryEntry {
        self.entries.at(index).cast_const()
    }

    pub(super) fn add(&self) {
        self.entries.push();
        self.parts.push();
        self.words.push();
        let (entries, len) = (self.entries.at(0).cast_const(), self.len());
        self.with_head(|head| Directory { entries, len, ..head });
    }

    /// Replaces the entry of an object. The plugin part does not change.
    ///
    /// # Panics
    /// Panics if the slot does not exist.
    #[inline]
    pub(super) fn put(&self, index: u32, entry: DirectoryEntry) {
        self.entries.set(index, entry);
        self.note(index);
    }

    pub(super) fn clear(&self, index: u32) {
        self.entries.set(index, EMPTY_ENTRY);
        self.put_part(index, 0, PluginPart::NONE);
    }

    /// Replaces the entry and the plugin part of an object. Counts as one change.
    ///
    /// # Panics
    /// Panics if the slot does not exist.
    #[inline]
    pub(super) fn put_whole(&self, index: u32, entry: DirectoryEntry, plugin_part: PluginPart) {
        self.entries.set(index, entry);
        self.put_part(index, entry.serial, plugin_part);
    }

    /// Replaces the plugin part of an object.
    ///
    /// # Panics
    /// Panics if the slot does not exist.
    #[inline]
    pub(super) fn put_plugin_part(&self, object: ObjectHandle, plugin_part: PluginPart) {
        self.put_part(object.index(), object.serial(), plugin_part);
    }

    /// Replaces the cached plugin part of an object with the same conjugate. Has no effect if the object has a different conjugate. The
    /// conjugate number also identifies the object, because each number belongs to one object.
    #[inline]
    pub(super) fn cache_part(&self, object: ObjectHandle, plugin_part: PluginPart) {
        let index = object.index();
        if plugin_part.word != 0 && self.words.get(index) == Some(plugin_part.word) {
            self.note(index);
            self.put_cached(index, object.serial(), plugin_part);
        }
    }

    #[inline]
    fn put_part(&self, index: u32, serial: u32, plugin_part: PluginPart) {
        self.note(index);
        self.words.set(index, plugin_part.word);
        self.put_cached(index, serial, plugin_part);
    }

    #[inline]
    fn put_cached(&self, index: u32, serial: u32, plugin_part: PluginPart) {
        self.parts.set(index, PartEntry { of: PartOf::new(serial, plugin_part.class), part: plugin_part.part });
    }

    #[inline]
    fn note(&self, index: u32) {
        let changes = self.changes.get();
        self.recent[changes as usize % REMEMBERED].set(index);
        self.changes.set(changes + 1);
    }

    /// Invalidates all addresses of object memory that plugins have cached.
    pub(super) fn count_end(&self) {
        self.with_head(|head| Directory { ends: head.ends.wrapping_add(1), ..head });
    }

    /// Removes the entries from the head, because the memory of the objects is about to be freed.
    pub(super) fn close(&self) {
        self.with_head(|head| Directory { entries: std::ptr::null(), len: 0, ends: head.ends.wrapping_add(1) });
    }

    fn with_head(&self, change: impl FnOnce(Directory) -> Directory) {
        self.head.set(change(self.head.get()));
    }
}
