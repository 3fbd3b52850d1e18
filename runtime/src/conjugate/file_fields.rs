//! Kept fields of the objects of a loaded world file, by name. All fields are stored in one list, because a list per object would need an
//! allocation per object and an allocation per field.

use std::ops::Range;
use std::rc::Rc;

use crate::handles::ObjectHandle;
use crate::object::dormant::KeptField;

/// Borrowed [`KeptField`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeptView<'a> {
    pub class: &'a Rc<str>,
    pub name: &'a Rc<str>,
    pub data: &'a [u8],
}

impl KeptView<'_> {
    /// Checks if class and name of both fields are equal.
    pub(crate) fn is_same(self, other: KeptView<'_>) -> bool {
        self.class == other.class && self.name == other.name
    }

    pub(crate) fn to_field(self) -> KeptField {
        KeptField { class: Rc::clone(self.class), name: Rc::clone(self.name), data: self.data.to_vec() }
    }
}

impl<'a> From<&'a KeptField> for KeptView<'a> {
    fn from(field: &'a KeptField) -> Self {
        let KeptField { class, name, data } = field;
        Self { class, name, data }
    }
}

/// Kept fields of many objects. No field is removed, so plugin code may run while a field is borrowed.
#[derive(Debug, Default)]
pub(crate) struct FileFields {
    /// Values of all fields, in the order of `fields`.
    bytes: Vec<u8>,
    fields: Vec<FileField>,
    /// Objects with fields, each with the end of its fields in `fields`. The fields of an object begin at the end of the previous object.
    objects: Vec<(ObjectHandle, usize)>,
    /// Index of each object in `objects`, plus one. Zero for an object without fields. Indexed by the slot of the object.
    by_slot: Vec<u32>,
}

#[derive(Debug)]
struct FileField {
    class: Rc<str>,
    name: Rc<str>,
    /// End of the value in `bytes`. The value begins at the end of the previous field.
    end: usize,
}

impl FileFields {
    /// Reserves memory for this number of objects, fields, and bytes of values.
    pub(crate) fn reserve(&mut self, objects: usize, fields: usize, bytes: usize) {
        self.objects.reserve(objects);
        self.fields.reserve(fields);
        self.bytes.reserve(bytes);
    }

    /// Adds the fields of an object. Must be called at most once per object.
    pub(crate) fn insert<'a>(&mut self, object: ObjectHandle, fields: impl IntoIterator<Item = KeptView<'a>>) {
        let start = self.fields.len();
        for KeptView { class, name, data } in fields {
            self.bytes.extend_from_slice(data);
            let (class, name) = (Rc::clone(class), Rc::clone(name));
            self.fields.push(FileField { class, name, end: self.bytes.len() });
        }
        if self.fields.len() == start {
            return;
        }
        self.objects.push((object, self.fields.len()));
        let index = object.index() as usize;
        if self.by_slot.len() <= index {
            self.by_slot.resize(index + 1, 0);
        }
        self.by_slot[index] = self.objects.len() as u32;
    }

    /// Iterates over the fields of an object. Returns no fields for an object without an entry.
    pub(crate) fn of(&self, object: ObjectHandle) -> impl Iterator<Item = KeptView<'_>> {
        let range = self.range(object);
        let mut start = range.start.checked_sub(1).map_or(0, |before| self.fields[before].end);
        self.fields[range].iter().map(move |FileField { class, name, end }| {
            let data = &self.bytes[std::mem::replace(&mut start, *end)..*end];
            KeptView { class, name, data }
        })
    }

    fn range(&self, object: ObjectHandle) -> Range<usize> {
        let entry = self.by_slot.get(object.index() as usize).and_then(|entry| (*entry as usize).checked_sub(1));
        match entry {
            Some(at) if self.objects[at].0 == object => {
                at.checked_sub(1).map_or(0, |before| self.objects[before].1)..self.objects[at].1
            }
            _ => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{FileFields, KeptView};
    use crate::handles::ObjectHandle;

    #[test]
    fn an_object_has_its_own_fields() {
        let [class, name]: [Rc<str>; 2] = ["/Script/Game.Cube".into(), "mood".into()];
        let field = |data| KeptView { class: &class, name: &name, data };
        let [first, none, last] = [(9, 1), (4, 1), (2, 4)].map(|(index, serial)| ObjectHandle::new(index, serial));
        let mut fields = FileFields::default();
        fields.reserve(3, 3, 4);
        fields.insert(first, [field(&[1, 2]), field(&[])]);
        fields.insert(none, []);
        fields.insert(last, [field(&[3])]);
        let found = |object| fields.of(object).collect::<Vec<_>>();
        assert_eq!(found(first), [field(&[1, 2]), field(&[])]);
        assert_eq!(found(last), [field(&[3])]);
        for other in [none, ObjectHandle::new(2, 5), ObjectHandle::new(3, 1), ObjectHandle::new(100, 1)] {
            assert!(found(other).is_empty(), "{other}");
        }
        let copy = field(&[3]).to_field();
        assert_eq!(KeptView::from(&copy), field(&[3]));
        assert!(KeptView::from(&copy).is_same(field(&[])));
    }
}
