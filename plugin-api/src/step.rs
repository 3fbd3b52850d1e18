//! Whether a step of a task, a timer or a posted closure is running on this thread: then objects can be entered.

use core::cell::Cell;

thread_local! {
    /// How many steps of jobs are on this thread's stack, unless what a job held is being dropped. No destructor.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// That a step of a job is running on this thread. Only this file makes one.
pub(crate) struct Step(());

impl Step {
    /// `None` where none is running, or what a job held is being dropped.
    pub(crate) fn running() -> Option<Self> {
        (STEPS.get() > 0).then_some(Self(()))
    }
}

/// Runs one step of a job: objects can be entered meanwhile.
pub(crate) fn running<R>(code: impl FnOnce() -> R) -> R {
    let _restore = Restore(STEPS.replace(STEPS.get() + 1));
    code()
}

/// Runs a drop: like every other drop of plugin code, it does not reach the engine.
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
