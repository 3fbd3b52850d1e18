//! Restores the machine after an operation, even after an error or panic. Otherwise the list of running calls would keep a call whose frame
//! memory is reused, and the collector would visit this frame.

use crate::machine::Machine;

/// Saved state of the machine. Dropping this value ends all calls that began after it was created, and frees their frames.
pub(crate) struct Mark<'a> {
    machine: &'a Machine,
    depth: usize,
    top: *mut u8,
    entries: u32,
}

impl Machine {
    /// Saves the current state.
    #[inline]
    pub(crate) fn mark(&self) -> Mark<'_> {
        self.mark_at(self.frames.depth())
    }

    /// Saves the current state. Dropping the mark keeps the first `depth` calls.
    #[inline]
    pub(crate) fn mark_at(&self, depth: usize) -> Mark<'_> {
        Mark { machine: self, depth, top: self.frames.top(), entries: self.entries.get() }
    }
}

impl Mark<'_> {
    /// Consumes the mark without ending calls. Restores only the number of entries.
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
