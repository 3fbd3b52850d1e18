//! Values that an object keeps outside its memory. An object is dormant while its class is missing. A dormant object is an instance of the
//! nearest available base, without a plugin part. It keeps the values of its missing class by name until the class is declared again. If a
//! reload removes a property, the object keeps the property's value until a property with that name is declared again.

use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_base::handles::ObjectHandle;

use crate::property::PropertyType;
use crate::value::{Value, with_objects};

/// State that a dormant object keeps for its missing class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dormant {
    /// Path of the missing class, which is the object's own class.
    pub class: Rc<str>,
    /// Paths of the dynamic bases of the missing class, base first.
    pub bases: Vec<Rc<str>>,
    /// Values of the properties that the object's current class lacks.
    pub values: Vec<(Rc<str>, KeptValue)>,
    /// Fields of the plugin part that are kept across reloads.
    pub fields: Vec<KeptField>,
}

/// Property value of a dormant object. `None` is the default of the missing class. When the class is declared again, the property receives
/// the default of the new declaration.
pub type KeptValue = Option<Value>;

/// Saved field of a plugin part. The field is kept across a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptField {
    /// Path of the declaring class. The kept fields of this class share the string.
    pub class: Rc<str>,
    /// Name of the field.
    pub name: Rc<str>,
    /// Value in CBOR.
    pub data: Vec<u8>,
}

/// Saved value that a property cannot hold since a reload. A later reload may restore the earlier type of the property (undo), and a
/// further reload may change the type again (redo).
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// Original value.
    pub value: Value,
    /// Value that replaced the original value in the property, if any. An undo restores the original value only if the property still has
    /// the replacement.
    pub instead: Option<Value>,
    /// Fingerprint of the original value's type. Zero if the type is unknown.
    pub ty: u64,
    /// Earlier value of a different type. The original value was computed from the earlier value, by a conversion or by a plugin author's
    /// function. Kept until the property is written.
    pub before: Option<Box<Self>>,
    /// Values that an undo replaced with the original value, latest first. A redo restores these values. Each entry has the fingerprint of
    /// the type that the property had before the undo. There is at most one entry per type. The entries are kept until the property is
    /// written.
    pub redo: Vec<(u64, Self)>,
}

/// Maximum number of values that one property keeps for a redo.
const MAX_REDO: usize = 8;

/// Values of removed properties, and values that the new type of a property could not hold. The values are kept in memory for the lifetime
/// of the object, and are never saved to a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemovedValues {
    values: Vec<(Rc<str>, Aside)>,
    /// Kept fields that the object's plugin part rejected.
    pub fields: Vec<FieldAside>,
}

/// Kept field that the object's plugin part rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldAside {
    /// Rejected field.
    pub field: KeptField,
    /// CBOR value that the field was initialized with instead. `None` if the field no longer exists or has a value that was written later.
    pub instead: Option<Vec<u8>>,
    /// Set if the field has a restored or written value of the object, and not the value from the red constructor.
    pub is_own: bool,
}

impl From<Value> for Aside {
    fn from(value: Value) -> Self {
        Self { value, instead: None, ty: 0, before: None, redo: Vec::new() }
    }
}

impl Aside {
    /// Records `ty` as the type of the original value, unless the type is already known.
    #[must_use]
    pub fn of_type(self, ty: &PropertyType) -> Self {
        if self.ty == 0 { self.retyped(ty) } else { self }
    }

    /// Records `ty` as the type of the original value.
    #[must_use]
    pub fn retyped(self, ty: &PropertyType) -> Self {
        Self { ty: fingerprint(ty), ..self }
    }

    /// Returns the value as a property of type `ty` held it. If the property held a replacement, returns the replacement, with the original
    /// value as its earlier value.
    #[must_use]
    pub fn held_as(mut self, ty: &PropertyType) -> Self {
        match self.instead.take() {
            Some(form) => {
                self.redo.clear();
                Self { before: Some(Box::new(self)), ..Self::from(form) }.retyped(ty)
            }
            None => self.retyped(ty),
        }
    }

    /// Returns the latest earlier value of type `ty`. If no earlier value has this type, returns this value.
    #[must_use]
    pub fn undone(self, ty: &PropertyType) -> Self {
        let found = self.with_earlier().skip(1).find(|earlier| earlier.is_of(ty)).cloned();
        found.unwrap_or(self)
    }

    /// Checks if the original value or one of its earlier values has the type `ty`.
    pub fn was_of(&self, ty: &PropertyType) -> bool {
        self.with_earlier().any(|aside| aside.is_of(ty))
    }

    /// Discards the earlier value of the type `ty`, and all earlier values before that value. Returns `None` if the original value has the
    /// type `ty`.
    #[must_use]
    pub fn newer_than(self, ty: &PropertyType) -> Option<Self> {
        if self.is_of(ty) {
            return None;
        }
        let before = self.before.and_then(|before| before.newer_than(ty)).map(Box::new);
        Some(Self { before, ..self })
    }

    /// Iterates over this value and its earlier values, latest first.
    fn with_earlier(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |aside| aside.before.as_deref())
    }

    /// Checks if the original value has the type `ty`. The enums and structs inside both types must have equal entries and fields.
    pub fn is_of(&self, ty: &PropertyType) -> bool {
        self.ty != 0 && self.ty == fingerprint(ty)
    }

    /// Replaces the redo values of this value with the redo values of `replaced`. `ty` is the type that the property had before the undo.
    /// If `ty` is known, also adds `replaced` itself to the redo values.
    #[must_use]
    pub fn with_redo(self, mut replaced: Self, ty: Option<&PropertyType>) -> Self {
        let mut redo = std::mem::take(&mut replaced.redo);
        if let Some(ty) = ty.map(fingerprint) {
            redo.retain(|(known, _)| *known != ty);
            redo.insert(0, (ty, replaced));
        }
        redo.retain(|(known, _)| *known != self.ty);
        redo.truncate(MAX_REDO);
        Self { redo, ..self }
    }

    /// Returns the value that a redo restores in a property of that type.
    pub fn redone(&self, ty: &PropertyType) -> Option<Self> {
        let ty = Some(ty).filter(|_| !self.redo.is_empty()).map(fingerprint)?;
        let (_, found) = self.redo.iter().find(|(known, _)| *known == ty)?;
        Some(Self { redo: self.redo.clone(), ..found.clone() })
    }

    /// Discards the earlier value and the redo values. Called after a write to the property. Returns `false` if the caller can also discard
    /// this value, because the value equals its replacement and was kept only for a redo.
    pub fn discard_derived(&mut self) -> bool {
        let without = |value: &Value| with_objects(value, &mut |_| ObjectHandle::NONE);
        let is_whole = || self.instead.as_ref().is_some_and(|instead| without(instead) == without(&self.value));
        let is_needed = self.redo.is_empty() || self.before.is_some() || !is_whole();
        self.before = None;
        self.redo.clear();
        is_needed
    }

    /// Iterates over all values that are stored outside the property.
    fn values(&self) -> impl Iterator<Item = &Value> {
        let redo = self.redo.iter().map(|(_, aside)| aside);
        let forms = redo.clone().filter_map(|aside| aside.instead.as_ref());
        let originals = self.with_earlier().chain(redo.flat_map(Self::with_earlier));
        originals.map(|aside| &aside.value).chain(forms)
    }
}

fn fingerprint(ty: &PropertyType) -> u64 {
    Fingerprint::START.text(&ty.to_string()).number(ty.layout()).finish()
}

impl RemovedValues {
    /// Keeps the value of a removed property. Discards an earlier value that was kept under this name.
    pub fn put(&mut self, name: &Rc<str>, value: impl Into<Aside>) {
        self.take(name);
        self.values.push((Rc::clone(name), value.into()));
    }

    /// Removes and returns the value with that name.
    pub fn take(&mut self, name: &str) -> Option<Aside> {
        let at = self.values.iter().position(|(known, _)| **known == *name)?;
        Some(self.values.remove(at).1)
    }

    /// Removes the kept value with that name. Returns the kept value if `now` is its replacement. Otherwise, returns `now`.
    pub fn take_original(&mut self, name: &str, now: &Value) -> Aside {
        let original = self.take(name).filter(|aside| aside.instead.as_ref() == Some(now));
        original.unwrap_or_else(|| now.clone().into())
    }

    /// Returns the value with that name.
    pub fn get(&self, name: &str) -> Option<&Aside> {
        self.values.iter().find(|(known, _)| **known == *name).map(|(_, aside)| aside)
    }

    /// Moves the values to a box. Returns `None` if there are neither values nor fields.
    pub fn boxed(self) -> Option<Box<Self>> {
        (!self.values.is_empty() || !self.fields.is_empty()).then(|| Box::new(self))
    }

    /// Returns the objects to which the values have strong references. The owner of the values keeps these objects alive.
    pub(super) fn objects(&self) -> Vec<ObjectHandle> {
        strong_references(self.values.iter().flat_map(|(_, aside)| aside.values()))
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
    /// Returns the value with that name.
    pub fn value(&self, name: &str) -> Option<&KeptValue> {
        self.values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// Returns the objects to which the values have strong references. The owner of the values keeps these objects alive.
    pub(super) fn objects(&self) -> Vec<ObjectHandle> {
        strong_references(self.values.iter().filter_map(|(_, value)| value.as_ref()))
    }
}
