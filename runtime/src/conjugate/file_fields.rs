//! Kept fields of the objects of a loaded world file, by name.

use std::rc::Rc;

use crate::conjugate::field_bytes::FieldBytes;
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
    pub(crate) fn is_same<'b>(self, other: impl Into<KeptView<'b>>) -> bool {
        let other = other.into();
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

/// Kept fields of many objects: class path, name and value of each field. No field is removed, so plugin code may run while a field is
/// borrowed.
#[derive(Debug, Default)]
pub(crate) struct FileFields {
    /// Class paths and names, to which the fields of many objects refer.
    names: Vec<[Rc<str>; 2]>,
    /// Index in `names` and value of each field.
    fields: FieldBytes<u32>,
}

impl FileFields {
    /// Creates an empty value for fields with these class paths and names. Reserves memory for this number of fields and bytes of values.
    pub(crate) fn new(names: Vec<[Rc<str>; 2]>, fields: usize, bytes: usize) -> Self {
        let mut this = Self { names, fields: FieldBytes::default() };
        this.fields.reserve(fields, bytes);
        this
    }

    /// Adds the fields of an object: the index of the class path and name, and the value. Must be called at most once per object.
    pub(crate) fn insert<'a>(&mut self, object: ObjectHandle, fields: impl IntoIterator<Item = (u32, &'a [u8])>) {
        for (names, data) in fields {
            self.fields.bytes.extend_from_slice(data);
            self.fields.push(object, names);
        }
    }

    /// Iterates over the fields of an object. Returns no fields for an object without an entry.
    pub(crate) fn of(&self, object: ObjectHandle) -> impl Iterator<Item = KeptView<'_>> {
        self.fields.of(object).map(move |(names, data)| {
            let [class, name] = &self.names[names as usize];
            KeptView { class, name, data }
        })
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
        let other = KeptView { name: &class, ..field(&[]) };
        let names = vec![[Rc::clone(&class), Rc::clone(&name)], [Rc::clone(&class), Rc::clone(&class)]];
        let mut fields = FileFields::new(names, 3, 4);
        fields.insert(first, [(0, &[1, 2][..]), (1, &[][..])]);
        fields.insert(none, []);
        fields.insert(last, [(0, &[3][..])]);
        let found = |object| fields.of(object).collect::<Vec<_>>();
        assert_eq!(found(first), [field(&[1, 2]), other]);
        assert_eq!(found(last), [field(&[3])]);
        for other in [none, ObjectHandle::new(2, 5), ObjectHandle::new(3, 1), ObjectHandle::new(100, 1)] {
            assert!(found(other).is_empty(), "{other}");
        }
        let copy = field(&[3]).to_field();
        assert_eq!(KeptView::from(&copy), field(&[3]));
        assert!(KeptView::from(&copy).is_same(field(&[])));
    }
}
