//! Loads in progress per thread, and waits between threads. Decides only; `in_progress.rs` blocks.
//!
//! Steps of a thread nest: a resolver called during a load may itself load. Only one kind of step excludes other threads: a
//! load that has gathered its dependencies *claims* the names of all modules it will start, atomically. Another thread that
//! needs one of these names waits. A wait that would be a deadlock is rejected: the claiming thread is the waiting thread
//! itself, or waits for something that the waiting thread has claimed.

use std::collections::HashMap;
use std::hash::Hash;

use crate::load::error::context::{LoadRequest, LoadStep};

/// Maximum depth of nested resolver calls on one thread. In an unoptimized host one call takes up to 64 KiB of the stack, and
/// Rust threads have 2 MiB.
pub(super) const DEEPEST: usize = 16;

/// Unit of work that may be in progress.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Number of the context or generation, unique in this process.
    scope: u64,
    step: LoadStep,
}

impl Work {
    pub(super) fn new(scope: u64, context: String, request: LoadRequest) -> Self {
        Self { scope, step: LoadStep { context, request } }
    }

    /// Returns the step for errors.
    pub(super) fn step(&self) -> &LoadStep {
        &self.step
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        (self.scope, &self.step.request) == (other.scope, &other.step.request)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    /// Resolvers and handlers are being called.
    Asking,
    /// The library is read, and its dependencies are being gathered.
    Loading,
    /// The modules are being started, exclusively on this thread.
    Claiming,
}

/// Reason why a step can never begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Never {
    /// The step would wait for itself; the last link repeats the first.
    Cycle(Vec<LoadStep>),
    /// Too many nested resolver calls on the thread.
    TooDeep,
}

pub(super) struct Table<T> {
    threads: HashMap<T, Row>,
}

#[derive(Default)]
struct Row {
    steps: Vec<Step>,
    waits_for: Option<Work>,
}

struct Step {
    sort: Sort,
    /// Works of the step. Only claims have several; the first is the requested one.
    works: Vec<Work>,
}

impl Step {
    /// Checks if a nested step is forbidden for the same work.
    fn excludes(&self, inner: Sort) -> bool {
        match (self.sort, inner) {
            (Sort::Claiming, _) => true,
            (Sort::Asking | Sort::Loading, Sort::Asking) | (Sort::Loading, Sort::Loading) => true,
            // A resolver may load by path the module that was requested by name.
            (Sort::Asking, Sort::Loading) => false,
            // Final step of every load.
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
    pub(super) fn depth(&self, thread: T) -> usize {
        self.threads.get(&thread).map_or(0, |row| row.steps.len())
    }

    /// Begins a step of a thread inside its other steps. Returns false if another thread has claimed some of `works`: the
    /// caller must retry after that thread's step has ended. Returns an error if the wait would be permanent; the thread's
    /// steps are unchanged then.
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

    /// Ends the steps of a thread from the index `depth` on. Returns true if other threads may have waited for them.
    pub(super) fn end(&mut self, thread: T, depth: usize) -> bool {
        let Some(row) = self.threads.get_mut(&thread) else { return false };
        let ended = row.steps.split_off(depth.min(row.steps.len()));
        self.forget_if_idle(thread);
        ended.iter().any(|step| step.sort == Sort::Claiming)
    }

    /// Returns the first work that a step would have to wait for.
    fn check(&self, thread: T, sort: Sort, works: &[Work]) -> Result<Option<Work>, Never> {
        let steps = self.threads.get(&thread).map_or(&[][..], |row| &row.steps);
        for work in works {
            if steps.iter().any(|step| step.excludes(sort) && step.is_of(work)) {
                return Err(Never::Cycle(self.chain(&[(thread, work)])));
            }
        }
        let questions = steps.iter().filter(|step| step.sort == Sort::Asking).count();
        if sort == Sort::Asking && questions >= DEEPEST {
            return Err(Never::TooDeep);
        }
        for work in works {
            let Some(holder) = self.holder(work) else { continue };
            return match self.cycle(thread, holder, work) {
                Some(chain) => Err(Never::Cycle(chain)),
                None => Ok(Some(work.clone())),
            };
        }
        Ok(None)
    }

    /// Returns the thread that has claimed the work.
    fn holder(&self, work: &Work) -> Option<T> {
        let has_claimed = |row: &Row| row.steps.iter().any(|step| step.sort == Sort::Claiming && step.is_of(work));
        self.threads.iter().find_map(|(thread, row)| has_claimed(row).then_some(*thread))
    }

    /// Returns the cycle that would close if `thread` waited for `work`, which `holder` has claimed.
    fn cycle(&self, thread: T, holder: T, work: &Work) -> Option<Vec<LoadStep>> {
        let mut hops = vec![(holder, work)];
        // Hops visit distinct threads, since earlier cycles were rejected.
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

    /// Returns, per hop, the required work and the later steps of its thread; the first work is repeated at the end.
    fn chain(&self, hops: &[(T, &Work)]) -> Vec<LoadStep> {
        let mut chain: Vec<&Work> = Vec::new();
        for (thread, expected) in hops {
            let steps = self.threads.get(thread).map_or(&[][..], |row| &row.steps);
            let since = steps.iter().skip_while(|step| !step.is_of(expected)).filter_map(|step| step.works.first());
            for work in std::iter::once(*expected).chain(since) {
                // A module that is looked up, loaded and claimed is a single link.
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
