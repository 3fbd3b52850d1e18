//! Statistics counters for reports, incremented where the events occur.

use std::cell::Cell;

/// Monotonic counter.
#[derive(Debug, Default)]
pub struct Counter(Cell<u64>);

/// Statistics of a world. Game thread only.
#[derive(Debug, Default)]
pub struct Counters {
    /// Objects that were constructed completely. Includes subobjects, but not CDOs and their subobjects.
    pub constructions: Counter,
    /// CDOs that were constructed completely.
    pub cdos: Counter,
    /// Destroyed objects.
    pub deaths: Counter,
    /// Class constructors run on instances.
    pub class_constructors_on_instances: Counter,
    /// Class constructors run on CDOs and their subobjects.
    pub class_constructors_on_cdos: Counter,
    /// Class constructors that ran again on the same object. The counter is zero in a correct host.
    pub class_constructors_rerun: Counter,
}

impl Counter {
    /// Returns the current value.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.get()
    }

    pub(super) fn bump(&self) {
        self.add(1);
    }

    pub(super) fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }
}
