//! What an object keeps that has no place in its memory. Of a class that is not there: its values by name, until the class
//! returns; meanwhile the object is seen as one of its nearest base that is there, and has no plugin part. Of a property that its
//! class has no more: the value, until a property of that name returns.

use std::rc::Rc;

use alcedo_base::handles::ObjectHandle;

use crate::value::Value;

/// What an object keeps of its class while that is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Dormant {
    /// Path of the class the object is of.
    pub class: Rc<str>,
    /// Paths of the dynamic classes above it, base first.
    pub bases: Vec<Rc<str>>,
    /// The properties that its body has no place for.
    pub values: Vec<(Rc<str>, KeptValue)>,
    /// The fields of its plugin part that are kept.
    pub fields: Vec<KeptField>,
}

/// One value of a dormant object.
#[derive(Clone, Debug, PartialEq)]
pub enum KeptValue {
    /// The object differed from its class in it.
    Own(Value),
    /// It was the default, and will be whatever is the default then.
    Default,
}

/// A plugin-side field on its way over a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptField {
    /// Path of the class that declares it.
    pub class: String,
    /// Its name.
    pub name: String,
    /// Its value, in CBOR.
    pub data: Vec<u8>,
}

/// Values of an object whose properties its class has no more, or has with a type that could not take them. They are there as
/// long as the object is, in the process that it is in: no file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemovedValues {
    values: Vec<(Rc<str>, Value)>,
    /// Kept fields that the plugin part could not have.
    pub fields: Vec<FieldAside>,
}

/// A kept field that the plugin part could not have, with what it has instead in CBOR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldAside {
    /// The field.
    pub field: KeptField,
    /// The value that the field began with instead; `None` if the field is gone.
    pub instead: Option<Vec<u8>>,
}

impl KeptField {
    /// Checks that both are the same field.
    pub fn is_same(&self, other: &Self) -> bool {
        self.class == other.class && self.name == other.name
    }
}

impl RemovedValues {
    /// The property of that name had this value; one that was kept under that name before is gone.
    pub fn put(&mut self, name: &Rc<str>, value: Value) {
        self.take(name);
        self.values.push((Rc::clone(name), value));
    }

    /// Takes the value of that name out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.values.iter().position(|(known, _)| **known == *name)?;
        Some(self.values.remove(at).1)
    }

    /// Whether there is a value of that name.
    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| **known == *name)
    }

    /// Boxed, where there are any.
    pub fn boxed(self) -> Option<Box<Self>> {
        (!self.values.is_empty() || !self.fields.is_empty()).then(|| Box::new(self))
    }

    /// The objects that they refer to: those are held as if the values were in the body.
    pub(super) fn objects(&self) -> Vec<ObjectHandle> {
        strong_references(self.values.iter().map(|(_, value)| value))
    }
}

fn strong_references<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<ObjectHandle> {
    let mut found = Vec::new();
    values.for_each(|value| {
        value.visit_objects(&mut |object, is_strong| found.extend(is_strong.then_some(object)));
    });
    found
}

impl Dormant {
    /// The value of that name.
    pub fn value(&self, name: &str) -> Option<&KeptValue> {
        self.values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// The objects its values refer to: they are held as if the values were in the body.
    pub(super) fn objects(&self) -> Vec<ObjectHandle> {
        strong_references(self.values.iter().filter_map(|(_, value)| match value {
            KeptValue::Own(value) => Some(value),
            KeptValue::Default => None,
        }))
    }
}
