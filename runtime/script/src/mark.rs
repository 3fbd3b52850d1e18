//! What a piece of work begins on the machine ends with it, also where it fails or panics: a call that was left behind would be one
//! that the collector looks at, with a frame that is used again.

use crate::machine::Machine;

/// How the machine was. When this is dropped, it is so again: later calls have ended, and what they took is free.
pub(crate) struct Mark<'a> {
    machine: &'a Machine,
    depth: usize,
    top: *mut u8,
    entries: u32,
}

impl Machine {
    /// How the machine is now.
    #[inline]
    pub(crate) fn mark(&self) -> Mark<'_> {
        self.mark_at(self.frames.depth())
    }

    /// The same, with only so many of the calls.
    #[inline]
    pub(crate) fn mark_at(&self, depth: usize) -> Mark<'_> {
        Mark { machine: self, depth, top: self.frames.top(), entries: self.entries.get() }
    }
}

impl Mark<'_> {
    /// Leaves the calls that there are now, and lets only their number from outside be as it was.
    #[inline]
    pub(crate) fn keep(mut self) {
        self.depth = usize::MAX;
    }
}

impl Drop for Mark<'_> {
    #[inline]
    fn drop(&mut self) {
        let machine = self.machine;
        machine.frames.unwind(self.depth);
        machine.frames.give_back(self.top);
        machine.entries.set(self.entries);
    }
}
