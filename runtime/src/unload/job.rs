//! Unload job of a module. Contains the steps that do not need the game thread. Any holder of the ticket may continue the job, on any
//! thread. [`CodeUnload`] abstracts the code of libraries and script packages.

use std::sync::Arc;
use std::time::Instant;

use alcedo_sys::process::describe_this_thread;

use crate::lease::{Blocker, Lease, LeaseKind, Leases};
use crate::unload::blockers::kept_by;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// Parts of a module that an unload needs. The module accepts no further calls.
pub(crate) struct UnloadJob {
    pub name: String,
    /// Leases on the module's code. Sealed, so that no new lease is issued.
    pub leases: Arc<Leases>,
    /// Leases on dependencies of the module. Released after the module's code is unmapped.
    pub keeps: Vec<Lease>,
    /// Number of active calls into the module. Nonzero only if the host shuts down inside such a call. The code then stays mapped.
    pub calls: u32,
    pub code: Box<dyn CodeUnload>,
    /// Callback that runs after the code is unmapped.
    pub forget: Box<dyn FnOnce() + Send>,
}

/// Unload of the code of a module. The last call into the module has returned. Usable on any thread.
pub(crate) trait CodeUnload: Send {
    /// Returns the blockers inside the code, such as running threads and registered callbacks.
    fn holders(&self) -> Vec<Blocker> {
        Vec::new()
    }

    /// Checks if the code can no longer call the host.
    fn is_quiet(&self) -> bool;

    /// Detaches the code from the host. Called once, after the last lease has ended and `is_quiet` has returned true.
    fn begin(&mut self) {}

    /// Continues the unload without blocking.
    fn advance(&mut self) -> CodeStep;

    /// Leaves the code mapped permanently. Returns `None` if the code is already unmapped or parked.
    fn park(&mut self) -> Option<ParkedImage>;
}

pub(crate) enum CodeStep {
    Waiting(Vec<Blocker>),
    Gone(Box<ModuleEnd>),
    Parked(ParkedImage),
}

/// Unload of a module. The module accepts no calls. First waits until the leases of the module have ended.
pub(crate) struct ModuleUnload {
    job: UnloadJob,
    begun: Instant,
    /// Thread that started the unload.
    begun_on: String,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Leases or calls are active, or threads of the module may still call the host.
    Used,
    /// The code is detached from the host, and is being unmapped.
    Ending,
    Over,
}

impl ModuleUnload {
    /// Creates the unload of a module whose leases are sealed.
    pub(crate) fn new(job: UnloadJob) -> Self {
        debug_assert!(job.leases.is_sealed(), "a lease taken now would come too late");
        Self { job, begun: Instant::now(), begun_on: describe_this_thread(), stage: Stage::Used }
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    pub(super) fn blockers(&self) -> Vec<Blocker> {
        match self.stage {
            Stage::Used => {
                let held = self.job.leases.report().into_iter().chain(self.job.code.holders());
                held.chain((self.job.calls != 0).then(|| self.active_call())).collect()
            }
            Stage::Ending => self.job.code.holders(),
            Stage::Over => Vec::new(),
        }
    }

    fn active_call(&self) -> Blocker {
        let owner = format!("into {}, in which the host ended", self.job.name);
        let thread = self.begun_on.clone();
        Blocker { kind: LeaseKind::Call, owner, thread, age: self.begun.elapsed(), place: None }
    }

    /// Continues the unload. Returns `None` if the unload is already over.
    pub(super) fn advance(&mut self) -> Option<CodeStep> {
        if self.stage == Stage::Used {
            if self.job.calls != 0 || self.job.leases.count() != 0 || !self.job.code.is_quiet() {
                return Some(CodeStep::Waiting(self.blockers()));
            }
            // If `begin` panics in module code, the unload is over and the code stays mapped.
            self.stage = Stage::Over;
            self.job.code.begin();
            self.stage = Stage::Ending;
        }
        if self.stage == Stage::Over {
            return None;
        }
        let step = self.job.code.advance();
        match step {
            CodeStep::Waiting(_) => {}
            CodeStep::Gone(_) => {
                self.stage = Stage::Over;
                self.job.keeps.clear();
                std::mem::replace(&mut self.job.forget, Box::new(|| {}))();
            }
            CodeStep::Parked(_) => self.leak_keeps(),
        }
        Some(step)
    }

    /// Leaves the code mapped. Returns `None` if the unload is already over. `above` contains the blockers that apply to all modules of the
    /// context, such as a running finalizer.
    pub(super) fn park(&mut self, above: &[Blocker]) -> Option<ParkedImage> {
        if self.is_over() {
            return None;
        }
        let blockers: Vec<_> = above.iter().cloned().chain(self.blockers()).collect();
        self.stage = Stage::Over;
        let mut image = self.job.code.park()?;
        if !blockers.is_empty() {
            image.reason = kept_by(&blockers);
        }
        self.leak_keeps();
        Some(image)
    }

    /// Ends the unload, and leaves the code mapped. Leaks the leases on dependencies, because the code may access these modules.
    fn leak_keeps(&mut self) {
        self.stage = Stage::Over;
        std::mem::forget(std::mem::take(&mut self.job.keeps));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{CodeStep, CodeUnload, ModuleUnload, ParkedImage, UnloadJob};
    use crate::lease::{LeaseKind, Leases};

    /// Test code that counts as unmapped once the flag is set.
    struct Slow(Arc<AtomicBool>);

    impl CodeUnload for Slow {
        fn is_quiet(&self) -> bool {
            true
        }

        fn advance(&mut self) -> CodeStep {
            if self.0.load(Ordering::SeqCst) { CodeStep::Gone(Box::default()) } else { CodeStep::Waiting(Vec::new()) }
        }

        fn park(&mut self) -> Option<ParkedImage> {
            None
        }
    }

    #[test]
    fn a_dependency_is_kept_until_its_dependent_is_unmapped() {
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
        assert!(matches!(unload.advance(), Some(CodeStep::Waiting(_))));
        assert_eq!(dependency.count(), 1);
        is_gone.store(true, Ordering::SeqCst);
        assert!(matches!(unload.advance(), Some(CodeStep::Gone(_))));
        assert_eq!(dependency.count(), 0);
    }
}
