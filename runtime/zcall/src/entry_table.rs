//! Storage of callees by handle number. Handle numbers are assigned in sequence and never reused. The table therefore needs no list of
//! ended callees to distinguish the number of an ended callee from a number that was never assigned.

use std::rc::Rc;

use super::call::Callee;
use crate::handles::ModuleId;
use crate::id_table::IdTable;

/// Callees of either all positive or all negative handles, indexed by the absolute value of the handle.
#[derive(Default)]
pub(super) struct EntryTable {
    /// Callees by number. All numbers below `entries.next()` have been assigned.
    entries: IdTable<Rc<Callee>>,
}

/// Result of a handle lookup. A dead handle was assigned, but the module of its function has ended.
pub(super) enum Found<'a> {
    Alive(&'a Rc<Callee>),
    Dead,
    NeverAssigned,
}

impl EntryTable {
    #[inline]
    pub(super) fn find(&self, number: u64) -> Found<'_> {
        match self.entries.get(number) {
            Some(entry) => Found::Alive(entry),
            None if number <= self.assigned() => Found::Dead,
            None => Found::NeverAssigned,
        }
    }

    pub(super) fn push(&mut self, entry: Rc<Callee>) -> u64 {
        let number = self.assigned() + 1;
        self.entries.insert(number, entry);
        number
    }

    /// Returns the number of handles that were assigned so far. The first handle is 1.
    pub(super) fn assigned(&self) -> u64 {
        self.entries.next().saturating_sub(1)
    }

    /// Returns the live callees with handle numbers above `number`.
    pub(super) fn since(&self, number: u64) -> impl Iterator<Item = &Rc<Callee>> {
        self.entries.iter_from(number + 1).map(|(_, entry)| entry)
    }

    pub(super) fn take(&mut self, module: ModuleId) -> Vec<Rc<Callee>> {
        self.entries.take_if(|entry| entry.function.module == module)
    }
}
