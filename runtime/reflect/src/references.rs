//! Offsets of the strong references in a layout. The offsets are computed once per class or parameter block. The garbage collector's mark
//! phase uses the offsets for direct access.

use crate::property::PropertyType;

/// The strong references of a layout. The kind of each value in the layout adds the references of the value.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// Offsets of the handles that are stored directly in the memory, including handles in nested structs.
    direct: Vec<u32>,
    /// Offsets and types of values whose references are optional or stored in separate memory, such as containers.
    pub(super) deep: Vec<(u32, PropertyType)>,
}

// A layout is smaller than four gigabytes, because property offsets have 32 bits.
impl References {
    /// Collects the references in fields. Each field is listed with its offset.
    pub(super) fn of<'a>(fields: impl IntoIterator<Item = (usize, &'a PropertyType)>) -> Self {
        let mut found = Self::default();
        for (offset, ty) in fields {
            ty.references(offset, &mut found);
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.deep.is_empty()
    }

    /// Returns the offsets of handles.
    #[inline]
    pub(super) fn direct(&self) -> &[u32] {
        &self.direct
    }

    /// Records a handle that keeps an object alive. The caller guarantees that a handle is stored at the offset, because unsafe code reads
    /// this handle.
    pub(crate) fn add_direct(&mut self, offset: usize) {
        self.direct.push(offset as u32);
    }

    /// Records a value whose references are enumerated by a visitor call.
    pub(crate) fn add_deep(&mut self, offset: usize, ty: &PropertyType) {
        self.deep.push((offset as u32, ty.clone()));
    }
}
