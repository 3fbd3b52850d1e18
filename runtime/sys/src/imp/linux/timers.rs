//! Timers of images. If a timer expired after its image's signal handlers were removed, the default action of the signal would terminate
//! the process. Therefore an image's timers are removed before its handlers.
//!
//! The process has three interval timers. Each interval timer belongs to the last image that has set it. A thread that holds the lock of
//! the interval timers blocks all signals, because a signal handler may also set these timers.

use std::ffi::c_int;
use std::ptr;
use std::sync::Mutex;

use super::c::callbacks::Event;
use super::c::kernel::{self, Timer, fail};
use super::c::signals::{Quiet, bit};
use super::{lock, notifications};
use crate::ledger::Ledger;

/// Owners of the process's three interval timers. An owner is the address of a ledger, or zero.
static INTERVALS: Mutex<[usize; 3]> = Mutex::new([0; 3]);

static CREATED: Mutex<Vec<Created>> = Mutex::new(Vec::new());

struct Created {
    owner: usize,
    timer: Timer,
    signal: Option<c_int>,
    notification: Option<usize>,
}

pub(super) const SIGNALS: [c_int; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// Sets an interval timer of the process by calling `set`, and records its owner. `stops` is `true` if the call stops the timer. Returns
/// `None` if the image may no longer set timers. Also returns `None` if the image tries to stop a timer that now belongs to a different
/// image. In a reload, the old generation stops its timers after the new generation has set its own.
pub(super) fn arm<T>(ledger: &Ledger, which: c_int, stops: bool, set: impl FnOnce() -> T) -> Option<T> {
    let _quiet = Quiet::new();
    let mut owners = lock(&INTERVALS);
    let own = ledger.owner();
    let owner = usize::try_from(which).ok().and_then(|which| owners.get_mut(which));
    let is_of_another = owner.as_ref().is_some_and(|owner| **owner != 0 && **owner != own);
    if ledger.records.is_closed() || stops && is_of_another {
        return None;
    }
    let result = set();
    owner.into_iter().for_each(|owner| *owner = own);
    Some(result)
}

/// Executes `timer_create` for one image. `make` creates the timer with the event that it receives.
pub(super) fn create(
    ledger: &Ledger,
    event: Option<Event>,
    make: impl FnOnce(*mut libc::sigevent) -> Result<Timer, c_int>,
) -> c_int {
    let owner = ledger.owner();
    // Creates the timer with the lock held. A thread that removes the image's timers therefore runs before the creation or finds this
    // timer.
    let mut created = lock(&CREATED);
    if ledger.records.is_closed() {
        return fail(libc::EAGAIN, -1);
    }
    let host = event.map(|event| event.through_host(owner, "a timer", false));
    let notification = host.and_then(|(_, notification)| notification);
    let address = host.as_ref().map_or(ptr::null(), |(event, _)| ptr::from_ref(event));
    match make(address.cast_mut().cast()) {
        Ok(timer) => {
            let signal = event.map_or(Some(libc::SIGALRM), |event| event.raises());
            created.push(Created { owner, timer, signal, notification });
            0
        }
        Err(result) => {
            notification.into_iter().for_each(notifications::remove);
            result
        }
    }
}

/// Removes the record of a timer of any image, and calls `delete`. The closure `delete` executes `timer_delete`.
pub(super) fn delete(timer: usize, delete: impl FnOnce() -> c_int) -> c_int {
    let mut created = lock(&CREATED);
    if let Some(at) = created.iter().position(|known| known.timer.number() == timer) {
        created.swap_remove(at).notification.into_iter().for_each(notifications::remove);
    }
    delete()
}

pub(super) fn held(owner: usize) -> u64 {
    let created = lock(&CREATED).iter().filter(|timer| timer.owner == owner).count();
    let _quiet = Quiet::new();
    let owners = lock(&INTERVALS);
    let running = (0..3).filter(|which| owners[*which] == owner && is_running(*which as c_int)).count();
    (created + running) as u64
}

/// Removes all timers of an image. Returns the signals that the timers may have raised, one bit each.
pub(super) fn disarm(owner: usize) -> u64 {
    let mut raised = 0;
    for created in lock(&CREATED).extract_if(.., |created| created.owner == owner) {
        created.notification.into_iter().for_each(notifications::remove);
        raised |= created.signal.map_or(0, bit);
        created.timer.delete();
    }
    let _quiet = Quiet::new();
    let mut owners = lock(&INTERVALS);
    for (which, signal) in SIGNALS.into_iter().enumerate().filter(|(which, _)| owners[*which] == owner) {
        kernel::stop_timer(which as c_int);
        raised |= bit(signal);
    }
    owners.iter_mut().filter(|known| **known == owner).for_each(|known| *known = 0);
    raised
}

/// Stops an interval timer of the process if the timer is running and has no owner. Returns `true` if the timer was running.
pub(super) fn stop_unowned(which: usize) -> bool {
    let _quiet = Quiet::new();
    let owners = lock(&INTERVALS);
    let is_unowned = owners[which] == 0 && is_running(which as c_int);
    if is_unowned {
        kernel::stop_timer(which as c_int);
    }
    is_unowned
}

/// Checks if an image has created the timer with this id. For a timer that raises a signal, the handle of the C library equals the id of
/// the kernel.
pub(super) fn is_known(number: c_int) -> bool {
    lock(&CREATED).iter().any(|created| created.timer.number() == number as usize)
}

pub(super) fn is_running(which: c_int) -> bool {
    let Some(now) = kernel::timer(which) else { return false };
    // A timer that has just expired has no remaining time, but a periodic timer still has its interval.
    [now.it_value, now.it_interval].iter().any(|left| left.tv_sec != 0 || left.tv_usec != 0)
}
