//! State of the C function `random`. A module may move the state to its own memory. Before that memory is freed, the state is moved to
//! memory of the host. The sequence of numbers continues.

use std::sync::atomic::{AtomicBool, Ordering};

use super::c::library::move_random_state;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "the state of `random`",
    redirect_references: |_, is_ours, report| {
        report.addresses += u64::from(MOVED.load(Ordering::SeqCst) && move_random_state(is_ours));
    },
    ..Repair::NONE
};

/// `true` as soon as a module may have moved the state. While this flag is `false`, no check is necessary.
static MOVED: AtomicBool = AtomicBool::new(false);

/// Executes a call by which an image may move the state of `random` to its own memory.
pub(super) fn moved<T>(call: impl FnOnce() -> T) -> T {
    MOVED.store(true, Ordering::SeqCst);
    call()
}
