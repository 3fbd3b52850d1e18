//! Where the strong references of a layout are: computed once for a class or a parameter block, so that a mark goes
//! straight to them.

use crate::property::PropertyType;

/// The strong references of a layout.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Offsets of handles that lie in the memory itself, those in structs included.
    direct: Box<[u32]>,
    /// Values that hold references in memory of their own, or not always, with their offsets: containers.
    deep: Box<[(u32, PropertyType)]>,
}

impl References {
    /// The references in fields, given with their offsets.
    pub(super) fn of<'a>(fields: impl IntoIterator<Item = (usize, &'a PropertyType)>) -> Self {
        let mut found = Found::default();
        for (offset, ty) in fields {
            ty.references(offset, &mut found);
        }
        Self { direct: found.direct.into(), deep: found.deep.into() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.deep.is_empty()
    }

    /// Offsets of handles.
    #[inline]
    pub(super) fn direct(&self) -> &[u32] {
        &self.direct
    }

    /// Values that show theirs, with their offsets.
    #[inline]
    pub(super) fn deep(&self) -> &[(u32, PropertyType)] {
        &self.deep
    }
}

/// What the kinds of a layout's values say about their references.
#[derive(Debug, Default)]
pub(crate) struct Found {
    direct: Vec<u32>,
    deep: Vec<(u32, PropertyType)>,
}

// A layout is smaller than four gigabytes: offsets of properties are 32 bits.
impl Found {
    /// A handle of an object that is kept alive lies there. That a handle does is for the kind to know: it is read.
    pub(crate) fn direct(&mut self, offset: usize) {
        self.direct.push(offset as u32);
    }

    /// The value there is to be asked.
    pub(crate) fn deep(&mut self, offset: usize, ty: &PropertyType) {
        self.deep.push((offset as u32, ty.clone()));
    }
}
