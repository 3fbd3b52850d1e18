//! What an object keeps of a class that is not there: its values by name, until the class returns. Meanwhile the object is
//! seen as one of its nearest base that is there, and has no plugin part.

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

impl Dormant {
    /// The value of that name.
    pub fn value(&self, name: &str) -> Option<&KeptValue> {
        self.values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// The objects its values refer to: they are held as if the values were in the body.
    pub(super) fn objects(&self) -> Vec<ObjectHandle> {
        let mut found = Vec::new();
        for (_, value) in &self.values {
            if let KeptValue::Own(value) = value {
                value.visit_objects(&mut |object, is_strong| found.extend(is_strong.then_some(object)));
            }
        }
        found
    }
}
