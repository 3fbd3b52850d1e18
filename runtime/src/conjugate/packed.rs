//! Packed kept fields of the objects in a reload. One call of the old plugin part writes all fields of its class as bytes. The red
//! constructor of a single new plugin part reads the bytes. If an object has several parts, each part reads its bytes in a further call.
//! Used for classes whose kept fields have equal names and types in both builds. The fields of other classes are saved by name.

use crate::handles::{ClassId, ObjectHandle};

/// Bytes of the kept fields of many objects.
#[derive(Debug, Default)]
pub(crate) struct PackedFields {
    /// Bytes of the fields of all parts, in the order of `parts`.
    pub(super) bytes: Vec<u8>,
    /// Parts in the order of their save. The parts of one object are adjacent, base first.
    parts: Vec<PackedPart>,
    /// Index of each object's first part in `parts`, plus one. Zero for an object without packed fields. Indexed by the index of the
    /// object.
    first: Vec<u32>,
}

#[derive(Debug)]
struct PackedPart {
    object: ObjectHandle,
    /// New class that reads the bytes.
    class: ClassId,
    /// End of the bytes. The bytes begin at the end of the previous part.
    end: usize,
}

// Limits the size of a part, because a reload packs one part or more per object.
const _: () = assert!(size_of::<PackedPart>() <= 24);

impl PackedFields {
    /// Adds a part of an object. The fields of the part are all bytes after the previous part. The parts of an object are added one after
    /// another.
    pub(super) fn push(&mut self, object: ObjectHandle, class: ClassId) {
        if self.parts.last().is_none_or(|part| part.object != object) {
            let index = object.index() as usize;
            if self.first.len() <= index {
                self.first.resize(index + 1, 0);
            }
            self.first[index] = self.parts.len() as u32 + 1;
        }
        self.parts.push(PackedPart { object, class, end: self.bytes.len() });
    }

    /// Iterates over the parts of an object, base first, with the new class and the bytes of each part.
    pub(super) fn of(&self, object: ObjectHandle) -> impl Iterator<Item = (ClassId, &[u8])> {
        let first = self.first.get(object.index() as usize).copied().unwrap_or_default() as usize;
        let parts = first.checked_sub(1).and_then(|first| self.parts.get(first..)).unwrap_or_default();
        let mut start = first.checked_sub(2).map_or(0, |before| self.parts[before].end);
        let own = parts.iter().take_while(move |part| part.object == object);
        own.map(move |part| (part.class, &self.bytes[std::mem::replace(&mut start, part.end)..part.end]))
    }

    /// Returns the bytes of an object with a single part, if `class` reads these bytes.
    pub(super) fn only(&self, object: ObjectHandle, class: ClassId) -> Option<&[u8]> {
        let mut parts = self.of(object);
        let (_, bytes) = parts.next().filter(|(reader, _)| *reader == class)?;
        if parts.next().is_none() { Some(bytes) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::PackedFields;
    use crate::handles::{ClassId, ObjectHandle};

    fn parts(packed: &PackedFields, object: ObjectHandle) -> Vec<(u32, Vec<u8>)> {
        packed.of(object).map(|(class, bytes)| (class.0, bytes.to_vec())).collect()
    }

    #[test]
    fn an_object_has_the_bytes_of_its_own_parts() {
        let mut packed = PackedFields::default();
        let [first, second] = [(9, 1), (2, 4)].map(|(index, serial)| ObjectHandle::new(index, serial));
        for (object, class, bytes) in [(first, 1, &[1, 2][..]), (first, 2, &[][..]), (second, 1, &[3][..])] {
            packed.bytes.extend_from_slice(bytes);
            packed.push(object, ClassId(class));
        }
        assert_eq!(parts(&packed, first), [(1, vec![1, 2]), (2, vec![])]);
        assert_eq!(parts(&packed, second), [(1, vec![3])]);
        let only = |object, class| packed.only(object, ClassId(class));
        assert_eq!((only(first, 1), only(second, 1), only(second, 2)), (None, Some(&[3][..]), None));
        for (index, serial) in [(2, 5), (3, 1), (100, 1)] {
            let other = ObjectHandle::new(index, serial);
            assert!(parts(&packed, other).is_empty(), "{other}");
        }
    }
}
