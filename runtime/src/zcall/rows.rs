//! Where the entries of calls lie. Numbers are given out in a row and never again, so a row tells a number that is
//! dead from one that never was without remembering the dead.

use std::collections::VecDeque;
use std::rc::Rc;

use super::chain::Dispatcher;
use super::name::ZCallName;
use crate::handles::ModuleId;

/// The entries of one sign, by the handle's distance from zero.
#[derive(Default)]
pub(super) struct Row {
    /// Handles up to this one are dead and forgotten.
    forgotten: u64,
    entries: VecDeque<Option<Entry>>,
}

/// What one handle calls.
pub(super) struct Entry {
    pub(super) name: ZCallName,
    pub(super) dispatcher: Rc<dyn Dispatcher>,
    pub(super) module: ModuleId,
    pub(super) fingerprint: u64,
    pub(super) signature: String,
}

/// What a handle stands for. A dead one was given out once.
pub(super) enum Found<'a> {
    Alive(&'a Entry),
    Dead,
    NeverGiven,
}

impl Row {
    pub(super) fn find(&self, number: u64) -> Found<'_> {
        let Some(at) = number.checked_sub(self.forgotten + 1) else { return Found::Dead };
        match usize::try_from(at).ok().and_then(|at| self.entries.get(at)) {
            Some(Some(entry)) => Found::Alive(entry),
            Some(None) => Found::Dead,
            None => Found::NeverGiven,
        }
    }

    pub(super) fn push(&mut self, entry: Entry) -> u64 {
        self.entries.push_back(Some(entry));
        self.given()
    }

    /// How many numbers were given out so far.
    pub(super) fn given(&self) -> u64 {
        self.forgotten + self.entries.len() as u64
    }

    /// The living entries of numbers after this one.
    pub(super) fn since(&self, number: u64) -> impl Iterator<Item = &Entry> {
        let skipped = usize::try_from(number.saturating_sub(self.forgotten)).unwrap_or(usize::MAX);
        self.entries.iter().skip(skipped).flatten()
    }

    /// Takes a module's entries out. Old modules end first, so the dead gather at the front and go.
    pub(super) fn take(&mut self, module: ModuleId) -> Vec<Entry> {
        let of_it = |entry: &mut Entry| entry.module == module;
        let taken = self.entries.iter_mut().filter_map(|slot| slot.take_if(of_it)).collect();
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.forgotten += 1;
        }
        taken
    }
}
