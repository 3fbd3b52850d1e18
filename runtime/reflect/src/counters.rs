//! Numbers that reports rest on, counted at the places where it happens.

use std::cell::Cell;

/// A number that only grows.
#[derive(Debug, Default)]
pub struct Counter(Cell<u64>);

/// What happened in a world so far. Game thread only.
#[derive(Debug, Default)]
pub struct Counters {
    /// Objects that were born whole, subobjects included; those of CDOs are not counted here.
    pub constructions: Counter,
    /// CDOs that were born whole.
    pub cdos: Counter,
    /// Objects that were destroyed, for whatever reason.
    pub deaths: Counter,
    /// Class constructors run on instances.
    pub class_constructors_on_instances: Counter,
    /// Class constructors run on CDOs and their subobjects.
    pub class_constructors_on_cdos: Counter,
    /// Class constructors run on an object that had that one already. Zero in a right host.
    pub class_constructors_rerun: Counter,
}

impl Counter {
    /// The number now.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.get()
    }

    /// One more.
    pub(super) fn bump(&self) {
        self.add(1);
    }

    /// So many more.
    pub(super) fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }
}
