//! The way into the code of a job: a red frame, the module's gate, the module's own function. Nothing else of the
//! host follows these addresses.
#![expect(unsafe_code, reason = "enters module code through the functions that a job brought along")]

use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::task::{Job, JobDrop, JobRun, JobStep};

use crate::border::{CallError, from_module};
use crate::bridge::tasks::waking::Waking;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;

/// What a job consists of, on the module's side. Not dropped by itself: [`Code::end`] does it, once.
#[derive(Clone, Copy)]
pub(crate) struct Code {
    data: *mut (),
    run: JobRun,
    drop: JobDrop,
}

// SAFETY: only posted jobs change threads before the host has them, and of those a module promises (`task::post`
// demands `Send`) that they may. Wherever they are, the addresses are followed on the game thread only.
unsafe impl Send for Code {}

impl Code {
    /// What a module hands over.
    ///
    /// # Safety
    /// The job is whole, and the host has become its owner: the module will neither use nor drop it.
    pub(crate) unsafe fn of(job: &Job<'_>) -> Self {
        Self { data: job.data, run: job.run, drop: job.drop }
    }

    /// Runs it once, in a red frame. Whether it is done. It must not be running, nor be ended, and `gate` is its
    /// module's, whose image stays mapped as long as the job is not ended.
    ///
    /// # Errors
    /// What it failed with; and when the gate is shut.
    pub(super) fn run(
        self,
        red: &RedStack,
        gate: &Rc<Gate>,
        what: &Rc<str>,
        waking: Option<&Arc<Waking>>,
    ) -> Result<bool, CallError> {
        let waker = waking.map_or(std::ptr::null(), Waking::lend);
        let mut step = JobStep::FAILED;
        red.call_module(gate, what, |failure| {
            // SAFETY: the gate is open, so the image is mapped; `data` is the module's own and nobody else runs it; the waker
            // is held by the caller for the call.
            step = unsafe { (self.run.0)(self.data, waker, failure) };
            if step == JobStep::FAILED { Status::FAILED } else { Status::OK }
        })?;
        Ok(step == JobStep::DONE)
    }

    /// Drops it, in a red frame. The last that happens to it; the gate may be shut by now, the image is still mapped.
    ///
    /// # Errors
    /// The panic of what was dropped.
    pub(super) fn end(self, red: &RedStack, what: &Rc<str>) -> Result<(), CallError> {
        red.enter(what, || {
            let drop = |failure: &mut Failure| {
                // SAFETY: the image is mapped, since no job outlives its generation's end, which comes before the
                // unmapping; the caller gives the job up.
                unsafe { (self.drop.0)(self.data, failure) }
            };
            from_module(drop)
        })
    }
}
