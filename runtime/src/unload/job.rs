//! The unload job of a module: what is left to do once the game thread has done its part. None of it needs the game thread,
//! so any holder of the ticket may drive it. What a module is made of is a matter of [`CodeUnload`] only.

use std::sync::Arc;
use std::time::Instant;

use alcedo_sys::process::this_thread_in_words;

use crate::lease::{Blocker, Lease, LeaseKind, Leases};
use crate::unload::blockers::kept_by;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// What a module hands over when it takes no calls any more.
pub(crate) struct UnloadJob {
    /// Its name.
    pub name: String,
    /// Why its code must stay, sealed.
    pub leases: Arc<Leases>,
    /// What it holds of others: they go after it.
    pub keeps: Vec<Lease>,
    /// Calls that have not returned: a host that ends inside a call leaves the code where it is.
    pub calls: u32,
    /// Its code.
    pub code: Box<dyn CodeUnload>,
    /// Called once the code is gone.
    pub forget: Box<dyn FnOnce() + Send>,
}

/// The code of a module that is no longer called. Any thread.
pub(crate) trait CodeUnload: Send {
    /// What of the code's own still runs or is registered.
    fn holders(&self) -> Vec<Blocker>;

    /// Whether all that may still ask the host for something has ended.
    fn is_quiet(&self) -> bool;

    /// The last lease has ended and the code is quiet: it gives up its host. Once.
    fn begin(&mut self);

    /// Goes on without waiting.
    fn advance(&mut self) -> CodeStep;

    /// Leaves it in the process for good; none for one that has ended before.
    fn park(&mut self) -> Option<StayingCode>;
}

/// How far the code of one module has come.
pub(crate) enum CodeStep {
    /// It has to wait for these.
    Waiting(Vec<Blocker>),
    /// Nothing of it is left.
    Gone(Box<ModuleEnd>),
    /// It stays.
    Stays(StayingCode),
}

/// Code that stays in the process.
pub(crate) struct StayingCode {
    /// The file name of what it was loaded from.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// A module that takes no calls any more and waits for its leases to end.
pub(crate) struct ModuleUnload {
    job: UnloadJob,
    begun: Instant,
    /// The thread on which it began to go.
    begun_on: String,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A call that the host has let in is still there, or a thread of the module that may still call the host.
    Used,
    /// The code has only itself to end.
    Ending,
    Over,
}

/// How far one module has come.
pub(super) enum JobStep {
    Waiting(Vec<Blocker>),
    Gone(Box<ModuleEnd>),
    Parked(ParkedImage),
}

impl ModuleUnload {
    /// A module whose leases are sealed.
    pub(crate) fn new(job: UnloadJob) -> Self {
        debug_assert!(job.leases.is_sealed(), "a lease taken now would come too late");
        Self { job, begun: Instant::now(), begun_on: this_thread_in_words(), stage: Stage::Used }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Everything that keeps it.
    pub(super) fn blockers(&self) -> Vec<Blocker> {
        match self.stage {
            Stage::Used => {
                let held = self.job.leases.report().into_iter().chain(self.job.code.holders());
                held.chain((self.job.calls != 0).then(|| self.call_under_way())).collect()
            }
            Stage::Ending => self.job.code.holders(),
            Stage::Over => Vec::new(),
        }
    }

    fn call_under_way(&self) -> Blocker {
        let owner = format!("into {}, in which the host ended", self.job.name);
        let thread = self.begun_on.clone();
        Blocker { kind: LeaseKind::Call, owner, thread, age: self.begun.elapsed(), place: None }
    }

    /// Goes on; none for a module that has ended before.
    pub(super) fn advance(&mut self) -> Option<JobStep> {
        if self.stage == Stage::Used {
            if self.job.calls != 0 || self.job.leases.count() != 0 || !self.job.code.is_quiet() {
                return Some(JobStep::Waiting(self.blockers()));
            }
            // If its last functions panic it is over, and what is left of it stays.
            self.stage = Stage::Over;
            self.job.code.begin();
            self.stage = Stage::Ending;
        }
        if self.stage == Stage::Over {
            return None;
        }
        match self.job.code.advance() {
            CodeStep::Waiting(blockers) => Some(JobStep::Waiting(blockers)),
            CodeStep::Gone(end) => {
                self.stage = Stage::Over;
                self.job.keeps.clear();
                std::mem::replace(&mut self.job.forget, Box::new(|| {}))();
                Some(JobStep::Gone(end))
            }
            CodeStep::Stays(code) => Some(JobStep::Parked(self.stays(code))),
        }
    }

    /// Leaves the code where it is; none for a module that has ended before. `above` are those it waits for with others.
    pub(super) fn park(&mut self, above: &[Blocker]) -> Option<ParkedImage> {
        if self.is_over() {
            return None;
        }
        let blockers: Vec<_> = above.iter().cloned().chain(self.blockers()).collect();
        self.stage = Stage::Over;
        let mut code = self.job.code.park()?;
        if !blockers.is_empty() {
            code.reason = kept_by(&blockers);
        }
        Some(self.stays(code))
    }

    /// The code stays, and so does what it may reach.
    fn stays(&mut self, code: StayingCode) -> ParkedImage {
        self.stage = Stage::Over;
        std::mem::forget(std::mem::take(&mut self.job.keeps));
        let StayingCode { file, reason } = code;
        ParkedImage { module: self.job.name.clone(), file, reason }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{CodeStep, CodeUnload, JobStep, ModuleUnload, StayingCode, UnloadJob};
    use crate::lease::{Blocker, LeaseKind, Leases};

    /// Code that is gone once the flag is set.
    struct Slow(Arc<AtomicBool>);

    impl CodeUnload for Slow {
        fn holders(&self) -> Vec<Blocker> {
            Vec::new()
        }

        fn is_quiet(&self) -> bool {
            true
        }

        fn begin(&mut self) {}

        fn advance(&mut self) -> CodeStep {
            if self.0.load(Ordering::SeqCst) { CodeStep::Gone(Box::default()) } else { CodeStep::Waiting(Vec::new()) }
        }

        fn park(&mut self) -> Option<StayingCode> {
            None
        }
    }

    #[test]
    fn a_dependency_is_kept_until_the_code_of_the_dependent_is_gone() {
        let (dependency, leases) = (Leases::new("module base"), Leases::new("module derived"));
        let keep = dependency.take(LeaseKind::Dependent, "derived").expect("it is not sealed");
        leases.seal();
        let is_gone = Arc::new(AtomicBool::new(false));
        let mut unload = ModuleUnload::new(UnloadJob {
            name: "derived".to_owned(),
            leases,
            keeps: vec![keep],
            calls: 0,
            code: Box::new(Slow(Arc::clone(&is_gone))),
            forget: Box::new(|| {}),
        });
        assert!(matches!(unload.advance(), Some(JobStep::Waiting(_))));
        assert_eq!(dependency.count(), 1);
        is_gone.store(true, Ordering::SeqCst);
        assert!(matches!(unload.advance(), Some(JobStep::Gone(_))));
        assert_eq!(dependency.count(), 0);
    }
}
