//! Packed kept fields of the objects in a reload. One call of the old plugin part writes all fields of its class as bytes. The red
//! constructor of a single new plugin part reads the bytes. If an object has several parts, each part reads its bytes in a further call.
//! Used for classes whose kept fields have equal names and types in both builds. The fields of other classes are saved by name.

use crate::conjugate::field_bytes::FieldBytes;
use crate::handles::{ClassId, ObjectHandle};

/// Packed fields of many objects. Each plugin part has one entry with its new class, which reads the bytes. The parts of one object are
/// ordered from base to derived.
pub(crate) type PackedFields = FieldBytes<ClassId>;

impl PackedFields {
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
