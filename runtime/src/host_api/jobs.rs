//! Deferred jobs of modules (tasks, timers and posted closures), and the wakers that tasks borrow.

use std::sync::Arc;

use alcedo_abi::task::{JobId, JobKind};

use super::arguments::{BorrowedWaker, OwnedJob};
use super::host_context::CallerContext;
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::bridge::tasks::waking::Waking;
use crate::handles::ModuleId;

pub(super) fn job_take(host: CallerContext<'_>, module: ModuleId, job: OwnedJob<'_>) -> Result<JobId, CallError> {
    let OwnedJob { job, code } = job;
    if job.kind == JobKind::POSTED {
        // A job that a different thread posts is not staged, because a rollback affects only code on the game thread.
        let is_staged = host.enter(|core| Ok::<_, CallError>(core.world.mode.is_before_commit())).unwrap_or(false);
        host.inbox.post(module, job, code, is_staged)?;
        return Ok(JobId::NONE);
    }
    host.enter(|core| core.tasks.take((&core.world, &core.red), module, job, code))
}

pub(super) fn job_cancel(host: CallerContext<'_>, job: JobId) -> Result<(), CallError> {
    let ended = host.enter(|core| {
        // Dropping the captures of the job requires a red frame. No red frame can be opened on the stack of a coroutine.
        if !core.red.hot().stack().is_here() {
            return Err(CallError::WrongStack { action: "canceling a job".to_owned() });
        }
        core.tasks.cancel(&core.red, job);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. } | CallError::WrongStack { .. }) = ended {
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

pub(super) fn waker_clone(waker: BorrowedWaker) -> *const () {
    waker.waking().clone_raw()
}

pub(super) fn waker_wake(waker: BorrowedWaker) {
    waker.waking().wake();
}

pub(super) fn waker_drop(waker: Arc<Waking>) {
    drop(waker);
}
