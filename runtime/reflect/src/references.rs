//! Offsets of the strong references in a layout. They are computed once for a class or a parameter block, for direct access during a mark.

use crate::property::PropertyType;

/// The strong references of a layout.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Offsets of handles in the memory itself, including nested structs.
    direct: Box<[u32]>,
    /// Offsets and types of values whose references are optional or in separate memory, for example containers.
    deep: Box<[(u32, PropertyType)]>,
}

impl References {
    /// Collects the references in fields, listed with their offsets.
    pub(super) fn of<'a>(fields: impl IntoIterator<Item = (usize, &'a PropertyType)>) -> Self {
        let mut found = Found::default();
        for (offset, ty) in fields {
            ty.references(offset, &mut found);
        }
        Self { direct: found.direct.into(), deep: found.deep.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.deep.is_empty()
    }

    /// Returns the offsets of handles.
    #[inline]
    pub(super) fn direct(&self) -> &[u32] {
        &self.direct
    }

    /// Returns the offsets and types of values that need a visitor call to enumerate their references.
    #[inline]
    pub(super) fn deep(&self) -> &[(u32, PropertyType)] {
        &self.deep
    }
}

/// References that the kinds of a layout's values have reported.
#[derive(Debug, Default)]
pub(crate) struct Found {
    direct: Vec<u32>,
    deep: Vec<(u32, PropertyType)>,
}

// A layout is smaller than four gigabytes, because property offsets are 32 bits wide.
impl Found {
    /// Records a handle that keeps an object alive. The kind guarantees a handle at the offset: unsafe code reads this handle.
    pub(crate) fn direct(&mut self, offset: usize) {
        self.direct.push(offset as u32);
    }

    /// Records a value that needs a visitor call to enumerate its references.
    pub(crate) fn deep(&mut self, offset: usize, ty: &PropertyType) {
        self.deep.push((offset as u32, ty.clone()));
    }
}
