//! What modules have done later: tasks, timers, posted closures, and the wakers that are lent to tasks.
#![expect(unsafe_code, reason = "takes over jobs, and counts who holds a waker")]

use alcedo_abi::task::{Job, JobId, JobKind};

use super::host_context::CallerContext;
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::bridge::tasks::{self, Code, Timing, waking};
use crate::handles::ModuleId;

pub(super) unsafe fn job_take(host: CallerContext<'_>, module: ModuleId, job: &Job<'_>) -> Result<JobId, CallError> {
    // SAFETY: the list makes the job the host's unless this fails; when it does, the code is not used.
    let code = unsafe { Code::of(job) };
    if job.kind == JobKind::POSTED {
        // Only the game thread works on what may be taken back.
        let timing = host.enter(|core| Ok::<_, CallError>(tasks::timing(core))).unwrap_or(Timing::Certain);
        host.inbox.post(module, job, code, timing)?;
        return Ok(JobId::NONE);
    }
    host.enter(|core| core.tasks.take(core, module, job, code))
}

pub(super) fn job_cancel(host: CallerContext<'_>, job: JobId) -> Result<(), CallError> {
    let ended = host.enter(|core| {
        core.tasks.cancel(core, job);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = ended {
        host.inbox.cancel(job);
    }
    Ok(())
}

pub(super) fn job_lives(core: &Core, job: JobId) -> Result<bool, CallError> {
    Ok(core.tasks.lives(job))
}

pub(super) fn game_time(core: &Core) -> Result<u64, CallError> {
    Ok(u64::try_from(core.tasks.now().as_nanos()).unwrap_or(u64::MAX))
}

pub(super) unsafe fn waker_clone(waker: *const ()) -> *const () {
    // SAFETY: the module clones a waker that it was lent or holds.
    unsafe { waking::clone_raw(waker) }
}

pub(super) unsafe fn waker_wake(waker: *const ()) {
    // SAFETY: the module wakes by a waker that it was lent or holds.
    unsafe { waking::wake_raw(waker) };
}

pub(super) unsafe fn waker_drop(waker: *const ()) {
    // SAFETY: the module drops a waker that it holds.
    unsafe { waking::drop_raw(waker) };
}
