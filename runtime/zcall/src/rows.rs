//! Where the entries of calls lie. Numbers are given out in a row and never again, so a row tells a number that is
//! dead from one that never was without remembering the dead.

use std::rc::Rc;

use super::call::Callee;
use crate::handles::ModuleId;
use crate::numbered::Numbered;

/// The entries of one sign, by the handle's distance from zero.
#[derive(Default)]
pub(super) struct Row {
    /// A number was given out if it is not behind the last of these.
    entries: Numbered<Rc<Callee>>,
}

/// What a handle stands for. A dead one was given out once.
pub(super) enum Found<'a> {
    Alive(&'a Rc<Callee>),
    Dead,
    NeverGiven,
}

impl Row {
    #[inline]
    pub(super) fn find(&self, number: u64) -> Found<'_> {
        match self.entries.get(number) {
            Some(entry) => Found::Alive(entry),
            None if number <= self.given() => Found::Dead,
            None => Found::NeverGiven,
        }
    }

    pub(super) fn push(&mut self, entry: Rc<Callee>) -> u64 {
        let number = self.given() + 1;
        self.entries.insert(number, entry);
        number
    }

    /// How many numbers were given out so far: they begin with one.
    pub(super) fn given(&self) -> u64 {
        self.entries.next().saturating_sub(1)
    }

    /// The living entries of numbers after this one.
    pub(super) fn since(&self, number: u64) -> impl Iterator<Item = &Rc<Callee>> {
        self.entries.iter_from(number + 1).map(|(_, entry)| entry)
    }

    /// Takes a module's entries out.
    pub(super) fn take(&mut self, module: ModuleId) -> Vec<Rc<Callee>> {
        self.entries.take_if(|entry| entry.module == module)
    }
}
