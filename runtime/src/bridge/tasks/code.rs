//! Calls the code of a job, in a red frame and through the module's gate. Only this file dereferences the addresses in a job.
#![expect(unsafe_code, reason = "enters module code through the function pointers of jobs")]

use std::rc::Rc;
use std::sync::Arc;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::task::{Job, JobDrop, JobRun, JobStep};

use crate::boundary::{CallError, from_module};
use crate::bridge::tasks::waking::Waking;
use crate::conjugate::gate::Gate;
use crate::conjugate::red::RedStack;

/// Data and functions of a job in its module. Has no destructor: the owner calls [`Code::end`] once.
#[derive(Clone, Copy)]
pub(crate) struct Code {
    data: *mut (),
    run: JobRun,
    drop: JobDrop,
}

// SAFETY: only posted jobs change threads before the host receives them, and the module promises that posted jobs are `Send` (`task::post`
// requires it). The addresses are dereferenced on the game thread only.
unsafe impl Send for Code {}

impl Code {
    /// Moves a job from a module into the ownership of the host.
    ///
    /// All fields of the job must be set. After this call, the module must not use or drop the job.
    pub(crate) unsafe fn of(job: &Job<'_>) -> Self {
        Self { data: job.data, run: job.run, drop: job.drop }
    }

    /// Runs the job once, in a red frame. Returns `true` if the job is done. The job must not be running or ended. `gate` must be the gate
    /// of the job's module, and the image of this module must stay mapped until the job is ended. Returns the error of the job, and an
    /// error if the gate is closed.
    pub(super) fn run(
        self,
        red: &RedStack,
        gate: &Rc<Gate>,
        what: &Rc<str>,
        waking: Option<&Arc<Waking>>,
    ) -> Result<bool, CallError> {
        let waker = waking.map_or(std::ptr::null(), Waking::as_address);
        let mut step = JobStep::FAILED;
        red.call_module(gate, what, |failure| {
            // SAFETY: the gate is open, so the image is mapped. `data` belongs to the module, and no other code uses it during the run. The
            // caller keeps the waker alive during the call.
            step = unsafe { (self.run.0)(self.data, waker, failure) };
            if step == JobStep::FAILED { Status::FAILED } else { Status::OK }
        })?;
        Ok(step == JobStep::DONE)
    }

    /// Drops the job in a red frame. The job must not be used afterwards. `gate` may be closed, but the image must be mapped. Returns a
    /// panic during the drop as an error.
    pub(super) fn end(self, red: &RedStack, gate: &Gate, what: &Rc<str>) -> Result<(), CallError> {
        red.enter(&gate.tag().name, what, || {
            let drop = |failure: &mut Failure| {
                // SAFETY: the image is mapped, because all jobs of a generation end before its images are unmapped. The caller does not use
                // the job afterwards.
                unsafe { (self.drop.0)(self.data, failure) }
            };
            from_module(drop)
        })
    }
}
