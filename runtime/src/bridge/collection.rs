//! When a collection was requested, and how it is set.

use std::cell::Cell;

/// How a collection is to be done at the next safe point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// At once.
    Whole,
    /// In slices.
    InSlices,
}

/// What was requested of the collection, and how it is set.
#[derive(Debug)]
pub(crate) struct Collection {
    wanted: Cell<Option<Wanted>>,
    /// Whether values that plugin code owns keep the objects they refer to.
    pub blacks_are_roots: Cell<bool>,
    /// Slices of the mark that is under way.
    pub slices: Cell<u32>,
}

impl Default for Collection {
    fn default() -> Self {
        Self { wanted: Cell::default(), blacks_are_roots: Cell::new(true), slices: Cell::default() }
    }
}

impl Collection {
    /// Asks for one at the next safe point. A whole one is no less than one in slices.
    pub(crate) fn ask(&self, wanted: Wanted) {
        if self.wanted.get() != Some(Wanted::Whole) {
            self.wanted.set(Some(wanted));
        }
    }

    /// What was requested, if anything.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        self.wanted.get()
    }

    /// Takes what was requested, if anything.
    pub(crate) fn take(&self) -> Option<Wanted> {
        self.wanted.take()
    }
}
