//! What modules have done later: tasks, timers, posted closures, and the wakers that are lent to tasks.
#![expect(unsafe_code, reason = "takes over errands, and counts who holds a waker")]

use alcedo_abi::task::{Errand, ErrandId, ErrandKind};

use super::word::Word;
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::bridge::tasks::{self, Code, Standing, waking};
use crate::handles::ModuleId;

pub(super) unsafe fn errand_take(host: Word<'_>, module: ModuleId, errand: &Errand<'_>) -> Result<ErrandId, CallError> {
    // SAFETY: the list makes the errand the host's unless this fails; when it does, the code is not used.
    let code = unsafe { Code::of(errand) };
    if errand.kind == ErrandKind::POSTED {
        // Only the game thread works on what may be taken back.
        let standing = host.enter(|core| Ok::<_, CallError>(tasks::standing(core))).unwrap_or(Standing::Certain);
        host.inbox.post(module, errand, code, standing)?;
        return Ok(ErrandId::NONE);
    }
    host.enter(|core| core.tasks.take(core, module, errand, code))
}

pub(super) fn errand_cancel(host: Word<'_>, errand: ErrandId) -> Result<(), CallError> {
    let ended = host.enter(|core| {
        core.tasks.cancel(core, errand);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = ended {
        host.inbox.cancel(errand);
    }
    Ok(())
}

pub(super) fn errand_lives(core: &Core, errand: ErrandId) -> Result<bool, CallError> {
    Ok(core.tasks.lives(errand))
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
