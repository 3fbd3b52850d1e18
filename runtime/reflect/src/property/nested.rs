//! What types with types in them keep: the inner types, how a value of them lies, and their words. Computed once, since
//! every access to a value needs them.

use std::rc::Rc;

use crate::property::PropertyType;

/// The element of an array or a set, or the delegate of which there are several.
#[derive(Debug)]
pub struct ElementType {
    ty: PropertyType,
    text: Rc<str>,
    size: usize,
    align: usize,
}

/// Key and value of a map.
#[derive(Debug)]
pub struct EntryType {
    key: PropertyType,
    value: PropertyType,
    text: Rc<str>,
    value_at: usize,
    size: usize,
    align: usize,
}

/// What an optional value is when it is there.
#[derive(Debug)]
pub struct OptionalType {
    ty: PropertyType,
    text: Rc<str>,
    at: usize,
    size: usize,
}

/// How the rows of a set or map lie: the key first, the value (if any) at its offset.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The key.
    pub key: &'a PropertyType,
    /// The value, and where in the row it lies; none in a set.
    pub value: Option<(&'a PropertyType, usize)>,
    /// Bytes from row to row.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

impl ElementType {
    /// An element of that type.
    pub fn new(ty: PropertyType) -> Self {
        Self::with_text(ty.to_string().into(), ty)
    }

    /// One of several delegates: their words are the signature alone.
    #[inline]
    pub fn delegate(signature: &Rc<str>) -> Self {
        Self::with_text(Rc::clone(signature), PropertyType::Delegate(Rc::clone(signature)))
    }

    fn with_text(text: Rc<str>, ty: PropertyType) -> Self {
        let (size, align) = (ty.size(), ty.align());
        Self { ty, text, size, align }
    }

    /// Its type.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// What stands in the parentheses of the container's type.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How its elements lie in a row.
    #[inline]
    pub fn row(&self) -> Row<'_> {
        Row { key: &self.ty, value: None, size: self.size, align: self.align }
    }
}

impl EntryType {
    /// An entry of these types.
    pub fn new(key: PropertyType, value: PropertyType) -> Self {
        let align = key.align().max(value.align());
        let value_at = key.size().next_multiple_of(value.align());
        let size = (value_at + value.size()).next_multiple_of(align);
        Self { text: format!("{key}, {value}").into(), key, value, value_at, size, align }
    }

    /// The key's type.
    #[inline]
    pub fn key(&self) -> &PropertyType {
        &self.key
    }

    /// The value's type.
    #[inline]
    pub fn value(&self) -> &PropertyType {
        &self.value
    }

    /// What stands in the parentheses of the map's type.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How its elements lie in a row.
    #[inline]
    pub fn row(&self) -> Row<'_> {
        Row { key: &self.key, value: Some((&self.value, self.value_at)), size: self.size, align: self.align }
    }
}

impl OptionalType {
    /// A value of that type, or none.
    pub fn new(ty: PropertyType) -> Self {
        let at = 1usize.next_multiple_of(ty.align());
        let size = (at + ty.size()).next_multiple_of(ty.align());
        Self { text: ty.to_string().into(), ty, at, size }
    }

    /// The value's type.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// What stands in the parentheses of the type.
    #[inline]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Bytes from the start to the value.
    #[inline]
    pub fn value_at(&self) -> usize {
        self.at
    }

    /// Bytes, with the padding at the end.
    #[inline]
    pub fn size(&self) -> usize {
        self.size
    }
}
