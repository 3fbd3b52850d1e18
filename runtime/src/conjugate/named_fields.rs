//! Kept fields by name, with their objects: the saved fields of a reload, and the fields of plugin parts that are not yet rebuilt.

use crate::handles::ObjectHandle;
use crate::object::dormant::KeptField;

/// Kept fields of many objects. The list is indexed by the slot of the object, because a hash map over many objects costs a cache miss per
/// access.
#[derive(Debug, Default)]
pub(crate) struct NamedFields {
    entries: Vec<(ObjectHandle, Vec<KeptField>)>,
    /// Number of entries with fields.
    count: usize,
}

impl NamedFields {
    /// Replaces the fields of an object. `fields` must not be empty.
    pub(crate) fn insert(&mut self, object: ObjectHandle, fields: Vec<KeptField>) {
        let index = object.index() as usize;
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, Default::default);
        }
        let (_, before) = std::mem::replace(&mut self.entries[index], (object, fields));
        self.count += usize::from(before.is_empty());
    }

    /// Returns the fields of an object. Returns no fields for an object without an entry.
    pub(super) fn get(&self, object: ObjectHandle) -> &[KeptField] {
        let entry = self.entries.get(object.index() as usize).filter(|(owner, _)| *owner == object);
        entry.map(|(_, fields)| &**fields).unwrap_or_default()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Removes and returns the fields of an object. Returns no fields for an object without an entry.
    #[inline]
    pub(crate) fn take(&mut self, object: ObjectHandle) -> Vec<KeptField> {
        if self.is_empty() { Vec::new() } else { self.take_listed(object) }
    }

    fn take_listed(&mut self, object: ObjectHandle) -> Vec<KeptField> {
        let entry = self.entries.get_mut(object.index() as usize).filter(|(owner, _)| *owner == object);
        let fields = entry.map(|(_, fields)| std::mem::take(fields)).unwrap_or_default();
        self.count -= usize::from(!fields.is_empty());
        if self.is_empty() {
            self.entries = Vec::new();
        }
        fields
    }

    /// Adds the entries of `newer`. An entry replaces the existing entry with the slot of its object.
    pub(super) fn merge(&mut self, newer: Self) {
        if self.is_empty() {
            *self = newer;
            return;
        }
        let newer = newer.entries.into_iter().filter(|(_, fields)| !fields.is_empty());
        newer.for_each(|(object, fields)| self.insert(object, fields));
    }

    /// Removes the entries of all objects except those that `is_needed` selects.
    pub(super) fn retain(&mut self, is_needed: impl Fn(ObjectHandle) -> bool) {
        for at in 0..self.entries.len() {
            if let Some((object, fields)) = self.entries.get(at)
                && !fields.is_empty()
                && !is_needed(*object)
            {
                self.take(*object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NamedFields;
    use crate::handles::ObjectHandle;
    use crate::object::dormant::KeptField;

    fn field(value: u8) -> Vec<KeptField> {
        vec![KeptField { class: "/Script/Game.Cube".into(), name: "mood".into(), data: vec![value] }]
    }

    #[test]
    fn fields_are_taken_once_and_only_by_their_own_object() {
        let mut named = NamedFields::default();
        let object = ObjectHandle::new(2, 4);
        named.insert(object, field(1));
        for other in [ObjectHandle::new(2, 5), ObjectHandle::new(1, 4), ObjectHandle::new(9, 4)] {
            assert!(named.get(other).is_empty() && named.take(other).is_empty());
        }
        assert_eq!(named.get(object), field(1));
        assert_eq!((named.take(object), named.take(object)), (field(1), vec![]));
        assert!(named.entries.is_empty(), "the last fields free the list");
    }

    #[test]
    fn newer_fields_replace_fields_and_unneeded_ones_are_removed() {
        let [first, second, third] = [(1, 1), (2, 1), (2, 2)].map(|(index, serial)| ObjectHandle::new(index, serial));
        let (mut named, mut newer) = (NamedFields::default(), NamedFields::default());
        for (object, value) in [(first, 1), (second, 2)] {
            named.insert(object, field(value));
        }
        newer.insert(third, field(3));
        named.merge(newer);
        assert_eq!((named.get(first), named.get(second), named.get(third)), (&*field(1), &[][..], &*field(3)));
        named.retain(|object| object == third);
        assert_eq!((named.count, named.get(first), named.get(third)), (1, &[][..], &*field(3)));
        named.retain(|_object| false);
        assert!(named.entries.is_empty());
    }
}
