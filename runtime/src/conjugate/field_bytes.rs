//! Bytes of the kept fields of many objects, in one buffer. A buffer per object would need at least one allocation per object.

use crate::handles::{ClassId, ObjectHandle};

/// Entries of many objects. Each entry has bytes, and a description of type `T`.
#[derive(Debug, Default)]
pub(crate) struct FieldBytes<T> {
    /// Bytes of all entries, in the order of `entries`.
    pub(super) bytes: Vec<u8>,
    /// Entries in the order of their addition. The entries of one object are adjacent.
    entries: Vec<Entry<T>>,
    /// Index of each object's first entry in `entries`, plus one. Zero for an object without an entry. Indexed by the slot of the object.
    first: Vec<u32>,
}

#[derive(Debug)]
struct Entry<T> {
    object: ObjectHandle,
    description: T,
    /// End of the bytes. The bytes begin at the end of the previous entry.
    end: usize,
}

// Limits the size of an entry, because a reload adds one entry or more per object.
const _: () = assert!(size_of::<Entry<ClassId>>() <= 24);

impl<T: Copy> FieldBytes<T> {
    /// Reserves memory for this number of further entries and bytes.
    pub(super) fn reserve(&mut self, entries: usize, bytes: usize) {
        self.entries.reserve(entries);
        self.bytes.reserve(bytes);
    }

    /// Adds an entry of an object. The entry has all bytes after the previous entry. The entries of an object are added one after another.
    pub(super) fn push(&mut self, object: ObjectHandle, description: T) {
        if self.entries.last().is_none_or(|entry| entry.object != object) {
            let index = object.index() as usize;
            if self.first.len() <= index {
                self.first.resize(index + 1, 0);
            }
            self.first[index] = self.entries.len() as u32 + 1;
        }
        self.entries.push(Entry { object, description, end: self.bytes.len() });
    }

    /// Iterates over the entries of an object in the order of their addition. Returns no entries for an object without an entry.
    pub(super) fn of(&self, object: ObjectHandle) -> impl Iterator<Item = (T, &[u8])> {
        let first = self.first.get(object.index() as usize).copied().unwrap_or_default() as usize;
        let entries = first.checked_sub(1).and_then(|first| self.entries.get(first..)).unwrap_or_default();
        let mut start = first.checked_sub(2).map_or(0, |before| self.entries[before].end);
        let own = entries.iter().take_while(move |entry| entry.object == object);
        own.map(move |entry| (entry.description, &self.bytes[std::mem::replace(&mut start, entry.end)..entry.end]))
    }
}
