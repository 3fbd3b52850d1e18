//! Requests and settings of garbage collection.

use std::cell::Cell;

/// Kind of collection at the next safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Whole,
    InSlices,
}

#[derive(Debug)]
pub(crate) struct Collection {
    wanted: Cell<Option<Wanted>>,
    /// Set if values owned by plugin code keep the objects they refer to.
    pub blacks_are_roots: Cell<bool>,
    /// Number of slices of the mark phase in progress.
    pub slices: Cell<u32>,
}

impl Default for Collection {
    fn default() -> Self {
        Self { wanted: Cell::default(), blacks_are_roots: Cell::new(true), slices: Cell::default() }
    }
}

impl Collection {
    /// Requests a collection at the next safe point. A whole collection takes precedence over one in slices.
    pub(crate) fn ask(&self, wanted: Wanted) {
        if self.wanted.get() != Some(Wanted::Whole) {
            self.wanted.set(Some(wanted));
        }
    }

    pub(crate) fn wanted(&self) -> Option<Wanted> {
        self.wanted.get()
    }

    pub(crate) fn take(&self) -> Option<Wanted> {
        self.wanted.take()
    }
}
