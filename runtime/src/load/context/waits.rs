//! Which loads are under way on which thread, and which thread waits for which. This file decides; `under_way.rs`
//! waits.
//!
//! A thread is in steps, one inside the other: a resolver that is called during a load may load something itself. No
//! step keeps another thread from anything but one: a load that has gathered all it needs *claims* the names of what it
//! will bring up, all at once or none. Another thread that needs one of them meanwhile waits for it, unless that would
//! be for ever, which is refused: what a thread needs may be under way on that thread, or on one that waits for
//! something it has claimed.

use std::collections::HashMap;
use std::hash::Hash;

use crate::load::error::context::{LoadStep, Wanted};

/// So many questions may be put to resolvers on one thread, each by the answer to the one before. In a host that is built without
/// optimization one takes up to 64 KiB of the stack, and threads of Rust have 2 MiB.
pub(super) const DEEPEST: usize = 16;

/// Something that can be under way.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// The generation of a context, or the context, by a number of its own in this process.
    place: u64,
    step: LoadStep,
}

impl Work {
    pub(super) fn new(place: u64, context: String, wanted: Wanted) -> Self {
        Self { place, step: LoadStep { context, wanted } }
    }

    /// How errors show it.
    pub(super) fn step(&self) -> &LoadStep {
        &self.step
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        (self.place, &self.step.wanted) == (other.place, &other.step.wanted)
    }
}

/// What a thread does about something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// It calls resolvers and handlers for it.
    Asking,
    /// It has its library, and gathers what that needs.
    Loading,
    /// It brings it up, and no other thread does.
    Claiming,
}

/// Why a step will never begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Never {
    /// It would wait for itself; the last link is the first.
    Ring(Vec<LoadStep>),
    /// As many questions are open on the thread as may be.
    TooDeep,
}

/// All steps of all threads.
pub(super) struct Table<T> {
    threads: HashMap<T, Row>,
}

/// One thread: its steps, the outermost first, and what it waits for.
#[derive(Default)]
struct Row {
    steps: Vec<Step>,
    waits_for: Option<Work>,
}

struct Step {
    sort: Sort,
    /// What it is about. Only a claim is of several; the first is what was requested.
    works: Vec<Work>,
}

impl Step {
    /// Whether a step inside of this one cannot begin on the same work.
    fn excludes(&self, inner: Sort) -> bool {
        match (self.sort, inner) {
            (Sort::Claiming, _) => true,
            (Sort::Asking | Sort::Loading, Sort::Asking) | (Sort::Loading, Sort::Loading) => true,
            // A resolver may load by its path what was requested by its name.
            (Sort::Asking, Sort::Loading) => false,
            // The end of every load.
            (Sort::Asking | Sort::Loading, Sort::Claiming) => false,
        }
    }

    fn is_of(&self, work: &Work) -> bool {
        self.works.contains(work)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { threads: HashMap::new() }
    }
}

impl<T: Copy + Eq + Hash> Table<T> {
    /// In how many steps a thread is.
    pub(super) fn depth(&self, thread: T) -> usize {
        self.threads.get(&thread).map_or(0, |row| row.steps.len())
    }

    /// Begins a step of a thread inside those it is in. False says that another thread has claimed some of `works`: the
    /// thread is to try again when that one's step has ended.
    ///
    /// # Errors
    /// When that would be for ever. The thread is where it was then, and waits for nothing.
    pub(super) fn begin(&mut self, thread: T, sort: Sort, works: &[Work]) -> Result<bool, Never> {
        self.threads.entry(thread).or_default().waits_for = None;
        let begun = self.check(thread, sort, works);
        let row = self.threads.entry(thread).or_default();
        let has_begun = match begun {
            Ok(None) => {
                row.steps.push(Step { sort, works: works.to_vec() });
                Ok(true)
            }
            Ok(Some(blocking)) => {
                row.waits_for = Some(blocking);
                Ok(false)
            }
            Err(never) => Err(never),
        };
        self.forget_if_idle(thread);
        has_begun
    }

    /// Ends the steps of a thread from the one at `depth` on. Whether others may have waited for them.
    pub(super) fn end(&mut self, thread: T, depth: usize) -> bool {
        let Some(row) = self.threads.get_mut(&thread) else { return false };
        let ended = row.steps.split_off(depth.min(row.steps.len()));
        self.forget_if_idle(thread);
        ended.iter().any(|step| step.sort == Sort::Claiming)
    }

    /// What a step would have to wait for first.
    fn check(&self, thread: T, sort: Sort, works: &[Work]) -> Result<Option<Work>, Never> {
        let steps = self.threads.get(&thread).map_or(&[][..], |row| &row.steps);
        for work in works {
            if steps.iter().any(|step| step.excludes(sort) && step.is_of(work)) {
                return Err(Never::Ring(self.chain(&[(thread, work)])));
            }
        }
        let questions = steps.iter().filter(|step| step.sort == Sort::Asking).count();
        if sort == Sort::Asking && questions >= DEEPEST {
            return Err(Never::TooDeep);
        }
        for work in works {
            let Some(holder) = self.holder(work) else { continue };
            return match self.ring(thread, holder, work) {
                Some(chain) => Err(Never::Ring(chain)),
                None => Ok(Some(work.clone())),
            };
        }
        Ok(None)
    }

    /// The thread that has claimed it.
    fn holder(&self, work: &Work) -> Option<T> {
        let has_claimed = |row: &Row| row.steps.iter().any(|step| step.sort == Sort::Claiming && step.is_of(work));
        self.threads.iter().find_map(|(thread, row)| has_claimed(row).then_some(*thread))
    }

    /// The chain that would close if `thread` waited for `work`, which `holder` has claimed.
    fn ring(&self, thread: T, holder: T, work: &Work) -> Option<Vec<LoadStep>> {
        let mut hops = vec![(holder, work)];
        // Each hop is another thread, or there would be a ring already, and that was refused.
        while let Some((at, _)) = hops.last().filter(|_| hops.len() <= self.threads.len()) {
            let next = self.threads.get(at)?.waits_for.as_ref()?;
            let holder = self.holder(next)?;
            if holder == thread {
                hops.insert(0, (thread, next));
                return Some(self.chain(&hops));
            }
            hops.push((holder, next));
        }
        None
    }

    /// Per hop, what is needed and what its thread is in since it began with that; the first once more at the end.
    fn chain(&self, hops: &[(T, &Work)]) -> Vec<LoadStep> {
        let mut chain: Vec<&Work> = Vec::new();
        for (thread, wanted) in hops {
            let steps = self.threads.get(thread).map_or(&[][..], |row| &row.steps);
            let since = steps.iter().skip_while(|step| !step.is_of(wanted)).filter_map(|step| step.works.first());
            for work in std::iter::once(*wanted).chain(since) {
                // A module is looked up, loaded and claimed: that is one link.
                if chain.last() != Some(&work) {
                    chain.push(work);
                }
            }
        }
        chain.extend(hops.first().map(|(_, first)| *first));
        chain.into_iter().map(|work| work.step.clone()).collect()
    }

    fn forget_if_idle(&mut self, thread: T) {
        if self.threads.get(&thread).is_some_and(|row| row.steps.is_empty() && row.waits_for.is_none()) {
            self.threads.remove(&thread);
        }
    }
}

#[cfg(test)]
mod tests;
