//! Inner types, layout and text of container types. All three are computed once per type, because every access to a value uses the layout.

use std::rc::Rc;

use crate::property::PropertyType;

/// Element type of an array or a set, the type in an optional, or the delegate type of a multicast delegate.
#[derive(Debug)]
pub struct ElementType {
    ty: PropertyType,
    text: Rc<str>,
    size: usize,
    align: usize,
}

/// Key type and value type of a map.
#[derive(Debug)]
pub struct EntryType {
    key: PropertyType,
    value: PropertyType,
    text: Rc<str>,
    value_at: usize,
    size: usize,
    align: usize,
}

/// Layout of a row. In an array or a set, a row is one element, called the key. In a map, a row is a key, followed by its value.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Type of the key.
    pub key: &'a PropertyType,
    /// Type and offset of the value. `None` in an array or a set.
    pub value: Option<(&'a PropertyType, usize)>,
    /// Stride in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

impl ElementType {
    /// Creates the element type of a container with elements of type `ty`.
    pub fn new(ty: PropertyType) -> Self {
        Self::with_text(ty.to_string().into(), ty)
    }

    /// Creates the element type of a multicast delegate. The text of this type is only the signature.
    #[inline]
    pub fn delegate(signature: &Rc<str>) -> Self {
        Self::with_text(Rc::clone(signature), PropertyType::Delegate(Rc::clone(signature)))
    }

    fn with_text(text: Rc<str>, ty: PropertyType) -> Self {
        let (size, align) = (ty.size(), ty.align());
        Self { ty, text, size, align }
    }

    /// Returns the element type.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// Returns the text inside the parentheses of the container's type.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the layout of a row.
    #[inline]
    pub fn row(&self) -> Row<'_> {
        Row { key: &self.ty, value: None, size: self.size, align: self.align }
    }
}

impl EntryType {
    /// Creates the entry type of a map with the key type `key` and the value type `value`.
    pub fn new(key: PropertyType, value: PropertyType) -> Self {
        let align = key.align().max(value.align());
        let value_at = key.size().next_multiple_of(value.align());
        let size = (value_at + value.size()).next_multiple_of(align);
        Self { text: format!("{key}, {value}").into(), key, value, value_at, size, align }
    }

    /// Returns the type of the key.
    #[inline]
    pub fn key(&self) -> &PropertyType {
        &self.key
    }

    /// Returns the type of the value.
    #[inline]
    pub fn value(&self) -> &PropertyType {
        &self.value
    }

    /// Returns the text inside the parentheses of the map's type.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the layout of a row.
    #[inline]
    pub fn row(&self) -> Row<'_> {
        Row { key: &self.key, value: Some((&self.value, self.value_at)), size: self.size, align: self.align }
    }
}
