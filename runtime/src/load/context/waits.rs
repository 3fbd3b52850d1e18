//! Decides which steps of loads may begin. The decision depends on the steps in progress on each thread and on the waits between threads.
//! `in_progress.rs` blocks the waiting threads.
//!
//! The steps of a thread nest, because a load may call a resolver, and the resolver may load modules. Steps of coroutines on one thread may
//! end in any order. Only a claim excludes concurrent threads. After a load has found all dependencies, the load atomically *claims* the
//! names of all modules that will be started. A concurrent thread that needs a claimed name waits. A wait that would cause a deadlock is
//! rejected. A deadlock occurs if the waiting thread itself has claimed the name. A deadlock also occurs if the claiming thread waits,
//! directly or indirectly, for the waiting thread.

use std::collections::HashMap;
use std::hash::Hash;

use crate::load::error::context::{LoadRequest, LoadStep};

/// Maximum depth of nested resolver calls, and of nested loads and unloads, on one thread. In an unoptimized host, one resolver call takes
/// up to 64 KiB of the stack. The stack of a Rust thread has 2 MiB.
pub(super) const DEEPEST: usize = 16;

/// Module, native library or replacement that a thread is loading.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Number of the context or generation. The number is unique in this process.
    scope: u64,
    step: LoadStep,
}

impl Work {
    pub(super) fn new(scope: u64, context: String, request: LoadRequest) -> Self {
        Self { scope, step: LoadStep { context, request } }
    }

    /// Returns the context and the request, for errors.
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
    /// Resolvers and handlers are called.
    Asking,
    /// The library is read, and its dependencies are being gathered.
    Loading,
    /// The modules are being started. Concurrent threads must not start these modules.
    Claiming,
}

/// Reason why a step can never begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Never {
    /// The step would wait for itself. The last link of the cycle repeats the first link.
    Cycle(Vec<LoadStep>),
    /// Too many resolver calls are nested on the thread.
    TooDeep,
}

pub(super) struct Table<T> {
    threads: HashMap<T, Row>,
    /// Number of the newest step.
    last: u64,
}

#[derive(Default)]
struct Row {
    steps: Vec<Step>,
    waits_for: Option<Work>,
}

struct Step {
    number: u64,
    sort: Sort,
    /// Items that the step processes. A claim has one or more items, and the first item is the requested item. Steps of the remaining kinds
    /// have one item.
    works: Vec<Work>,
}

impl Step {
    /// Checks if a step of the kind `inner` is forbidden inside this step, if both steps process the same item.
    fn excludes(&self, inner: Sort) -> bool {
        match (self.sort, inner) {
            (Sort::Claiming, _) => true,
            (Sort::Asking | Sort::Loading, Sort::Asking) | (Sort::Loading, Sort::Loading) => true,
            // A resolver may load the requested module by its path.
            (Sort::Asking, Sort::Loading) => false,
            // Every load ends with a claim.
            (Sort::Asking | Sort::Loading, Sort::Claiming) => false,
        }
    }

    fn is_of(&self, work: &Work) -> bool {
        self.works.contains(work)
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { threads: HashMap::new(), last: 0 }
    }
}

impl<T: Copy + Eq + Hash> Table<T> {
    /// Begins a step of a thread, nested in the thread's current steps, and returns the number of the step. Returns `None` if a second
    /// thread has claimed an entry of `works`. The caller must then wait until that thread has ended the claim, and retry. Returns an error
    /// if the wait would be permanent. An error leaves the steps of the thread unchanged.
    pub(super) fn begin(&mut self, thread: T, sort: Sort, works: &[Work]) -> Result<Option<u64>, Never> {
        self.threads.entry(thread).or_default().waits_for = None;
        let begun = self.check(thread, sort, works);
        let row = self.threads.entry(thread).or_default();
        let number = match begun {
            Ok(None) => {
                self.last += 1;
                row.steps.push(Step { number: self.last, sort, works: works.to_vec() });
                Ok(Some(self.last))
            }
            Ok(Some(blocking)) => {
                row.waits_for = Some(blocking);
                Ok(None)
            }
            Err(never) => Err(never),
        };
        self.forget_if_idle(thread);
        number
    }

    /// Ends the step `number` of a thread. Returns true if another thread may be waiting for this step.
    pub(super) fn end(&mut self, thread: T, number: u64) -> bool {
        let Some(row) = self.threads.get_mut(&thread) else { return false };
        let at = row.steps.iter().rposition(|step| step.number == number);
        let ended = at.map(|at| row.steps.remove(at));
        self.forget_if_idle(thread);
        ended.is_some_and(|step| step.sort == Sort::Claiming)
    }

    /// Returns the first entry of `works` for which the step would wait. Returns an error if the step can never begin.
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

    /// Returns the thread that has claimed `work`, if any.
    fn holder(&self, work: &Work) -> Option<T> {
        let has_claimed = |row: &Row| row.steps.iter().any(|step| step.sort == Sort::Claiming && step.is_of(work));
        self.threads.iter().find_map(|(thread, row)| has_claimed(row).then_some(*thread))
    }

    /// Returns the cycle that would result if `thread` waited for `work`. `holder` has claimed `work`. Returns `None` if there would be no
    /// cycle.
    fn cycle(&self, thread: T, holder: T, work: &Work) -> Option<Vec<LoadStep>> {
        let mut hops = vec![(holder, work)];
        // Each hop visits a new thread, because cycles were rejected when their last wait began.
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

    /// Returns the links of a cycle. Each hop adds the required [`Work`] and the later steps of the hop's thread. The last link repeats the
    /// first link.
    fn chain(&self, hops: &[(T, &Work)]) -> Vec<LoadStep> {
        let mut chain: Vec<&Work> = Vec::new();
        for (thread, expected) in hops {
            let steps = self.threads.get(thread).map_or(&[][..], |row| &row.steps);
            let since = steps.iter().skip_while(|step| !step.is_of(expected)).filter_map(|step| step.works.first());
            for work in std::iter::once(*expected).chain(since) {
                // Merges consecutive steps for one module, such as lookup, load and claim, into one link.
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
