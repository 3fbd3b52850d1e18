//! Requests and settings of garbage collection.

use std::cell::Cell;

/// Kind of collection at the next safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requested {
    Whole,
    InSlices,
}

#[derive(Debug)]
pub(crate) struct Collection {
    pub requested: Cell<Option<Requested>>,
    /// Set if references in owned values keep objects alive.
    pub owned_values_are_roots: Cell<bool>,
    /// Number of slices of the current mark phase.
    pub slices: Cell<u32>,
    /// Number of objects that the incremental collection has destroyed. If a sweep was aborted, the number includes the objects of this
    /// sweep until the restarted collection is complete.
    pub swept: Cell<usize>,
}

impl Default for Collection {
    fn default() -> Self {
        let (requested, slices, swept) = Default::default();
        Self { requested, owned_values_are_roots: Cell::new(true), slices, swept }
    }
}

impl Collection {
    /// Requests a collection at the next safe point. A full collection replaces a request for an incremental collection.
    pub(crate) fn request(&self, requested: Requested) {
        if self.requested.get() != Some(Requested::Whole) {
            self.requested.set(Some(requested));
        }
    }

    pub(crate) fn take(&self) -> Option<Requested> {
        self.requested.take()
    }
}
