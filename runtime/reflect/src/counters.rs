//! Statistics counters for reports. The code that causes an event increments the counter of the event.

use std::cell::Cell;

/// Monotonic counter.
#[derive(Debug, Default)]
pub struct Counter(Cell<u64>);

/// Statistics of a world. Game thread only.
#[derive(Debug, Default)]
pub struct Counters {
    /// Completed constructions of objects and subobjects, except CDOs and their subobjects.
    pub constructions: Counter,
    /// Destroyed objects.
    pub deaths: Counter,
    /// Runs of class constructors on instances.
    pub class_constructors_on_instances: Counter,
    /// Repeated runs of a class constructor on one object. The counter is zero in a correct host.
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
