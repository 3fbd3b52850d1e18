//! Restores the machine after an operation, even if it fails or panics: the collector would otherwise visit a leftover call whose
//! frame is reused.

use crate::machine::Machine;

/// Saved state of the machine. Dropping it ends later calls and frees their memory.
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

    /// Saves the current state with the given number of calls.
    #[inline]
    pub(crate) fn mark_at(&self, depth: usize) -> Mark<'_> {
        Mark { machine: self, depth, top: self.frames.top(), entries: self.entries.get() }
    }
}

impl Mark<'_> {
    /// Keeps the current calls; restores only the number of entries.
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
