//! Tracks the steps of tasks, timers and posted closures on this thread. Only during a step may code enter objects.

use core::cell::Cell;

thread_local! {
    /// Number of job steps on this thread's stack; zero while a job's data is being dropped. The type needs no destructor.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// Proof that a job step is running on this thread. Only code in this file can create the proof.
pub(crate) struct Step(());

impl Step {
    /// Returns the proof if a job step is running on this thread. Returns `None` otherwise, and while a job's data is being dropped.
    pub(crate) fn running() -> Option<Self> {
        (STEPS.get() > 0).then_some(Self(()))
    }
}

/// Runs one step of a job, during which code may enter objects.
pub(crate) fn running<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(STEPS.replace(STEPS.get() + 1));
    code()
}

/// Runs `code`, which drops the data of a job. Until `code` returns, plugin code cannot enter objects.
pub(crate) fn ending<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(STEPS.replace(0));
    code()
}

struct Restore(u32);

impl Drop for Restore {
    fn drop(&mut self) {
        STEPS.set(self.0);
    }
}
