//! The waker of a task. What it refers to is the host's, so that it may be cloned into any thread and outlive its task;
//! of the module it needs only the four functions below, which is why the host counts its holders.
#![expect(unsafe_code, reason = "implements the waker's table over the host's functions")]

use core::mem::ManuallyDrop;
use core::task::{RawWaker, RawWakerVTable, Waker};

use alcedo_rt::Host;

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// The waker that the host lends for one step; none for what has no waker.
///
/// # Safety
/// `waker` is null, or one of the host's wakers, lent for as long as what this returns is used.
pub(super) unsafe fn lent(waker: *const ()) -> ManuallyDrop<Waker> {
    if waker.is_null() {
        return ManuallyDrop::new(Waker::noop().clone());
    }
    // SAFETY: the functions below keep the waker's contract: the host counts holders from any thread.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(waker, &TABLE)) })
}

fn host() -> Option<Host<'static>> {
    // SAFETY: holders are counted, and the task is run later: no value is looked at.
    unsafe { Host::attached("a waker") }
}

// Without a host, after the detachment, nothing is counted any more: a clone is not, and so its drop is not either.

unsafe fn clone(waker: *const ()) -> RawWaker {
    if let Some(host) = host() {
        // SAFETY: a waker is cloned by who holds it.
        unsafe { host.waker_clone(waker) };
    }
    RawWaker::new(waker, &TABLE)
}

unsafe fn wake(waker: *const ()) {
    // SAFETY: promised by the caller, who gives the waker up.
    unsafe { wake_by_ref(waker) };
    // SAFETY: as above.
    unsafe { drop(waker) };
}

unsafe fn wake_by_ref(waker: *const ()) {
    if let Some(host) = host() {
        // SAFETY: a waker is used by who holds it.
        unsafe { host.waker_wake(waker) };
    }
}

unsafe fn drop(waker: *const ()) {
    if let Some(host) = host() {
        // SAFETY: a waker is dropped once by who holds it.
        unsafe { host.waker_drop(waker) };
    }
}
