//! Timers that images set going. One that strikes when its image is gone would find no handler, and what the system does
//! then by itself is to end the process; so an image's timers are taken down before its handlers are.
//!
//! The interval timers of the process are three, and the last image to set one has it. They may be set by a signal
//! handler, so the thread that holds their lock has all signals blocked.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Mutex;

use super::c::kernel::{self, Timer, set_errno};
use super::c::signals::{Quiet, bit};
use super::lock;
use super::notifications::{self, Event};
use crate::ledger::Ledger;

/// Whose each of the process's timers is: the address of a ledger, or zero.
static INTERVALS: Mutex<[usize; 3]> = Mutex::new([0; 3]);

/// The timers that images have made.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

struct Made {
    owner: usize,
    timer: Timer,
    signal: Option<c_int>,
    notification: Option<usize>,
}

/// The signal of each of the process's timers.
pub(super) const SIGNALS: [c_int; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// `setitimer` for one image, which is what `set` calls; `stops` if it stops the timer. `see` only looks what was set.
pub(super) fn set(
    ledger: &Ledger,
    which: c_int,
    stops: bool,
    set: impl FnOnce() -> c_int,
    see: impl FnOnce(),
) -> c_int {
    // Otherwise, as though the image's timer had been taken down just after this.
    armed(ledger, which, stops, set).unwrap_or_else(|| {
        see();
        0
    })
}

/// `alarm` for one image.
pub(super) fn alarm(ledger: &Ledger, seconds: c_uint) -> c_uint {
    armed(ledger, libc::ITIMER_REAL, seconds == 0, || kernel::alarm(seconds)).unwrap_or(0)
}

/// `ualarm` for one image.
pub(super) fn ualarm(ledger: &Ledger, first: c_uint, then: c_uint) -> c_uint {
    armed(ledger, libc::ITIMER_REAL, first == 0, || kernel::ualarm(first, then)).unwrap_or(0)
}

/// Sets one of the process's timers, and notes whose it is. Returns `None` for an image that may not any more, and for one
/// that stops a timer which another image has set since: a generation ends what it began after the next one has begun.
fn armed<T>(ledger: &Ledger, which: c_int, stops: bool, set: impl FnOnce() -> T) -> Option<T> {
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

/// `timer_create` for one image: `make` makes the timer, with the event to be told of.
pub(super) fn create(
    ledger: &Ledger,
    event: Option<Event>,
    make: impl FnOnce(*const c_void) -> Result<Timer, c_int>,
) -> c_int {
    let owner = ledger.owner();
    // Under the lock: a thread that takes down what the image has must find this one, or be before it.
    let mut made = lock(&MADE);
    if ledger.records.is_closed() {
        set_errno(libc::EAGAIN);
        return -1;
    }
    let (told, notification) = event.map_or((None, None), |event| {
        let (event, notification) = event.through_host(owner, "a timer", false);
        (Some(event), notification)
    });
    let told = told.as_ref().map_or(ptr::null(), ptr::from_ref);
    match make(told.cast()) {
        Ok(timer) => {
            let signal = event.map_or(Some(libc::SIGALRM), |event| event.raises());
            made.push(Made { owner, timer, signal, notification });
            0
        }
        Err(result) => {
            notification.into_iter().for_each(notifications::strike);
            result
        }
    }
}

/// `timer_delete` for whatever image, which is what `delete` calls.
pub(super) fn delete(timer: usize, delete: impl FnOnce() -> c_int) -> c_int {
    let mut made = lock(&MADE);
    if let Some(at) = made.iter().position(|known| known.timer.number() == timer) {
        made.swap_remove(at).notification.into_iter().for_each(notifications::strike);
    }
    delete()
}

/// How many an image has.
pub(super) fn held(owner: usize) -> u64 {
    let made = lock(&MADE).iter().filter(|timer| timer.owner == owner).count();
    let _quiet = Quiet::new();
    let owners = lock(&INTERVALS);
    let running = (0..3).filter(|which| owners[*which] == owner && is_running(*which as c_int)).count();
    (made + running) as u64
}

/// Takes down all that an image has; the signals that they raise, one bit each, for those that may have struck already.
pub(super) fn disarm(owner: usize) -> u64 {
    let mut raised = 0;
    for made in lock(&MADE).extract_if(.., |made| made.owner == owner) {
        made.notification.into_iter().for_each(notifications::strike);
        raised |= made.signal.map_or(0, bit);
        made.timer.delete();
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

/// Stops one of the process's timers that runs although no image has set it by its hooks; whether it did.
pub(super) fn stop_stray(which: usize) -> bool {
    let _quiet = Quiet::new();
    let owners = lock(&INTERVALS);
    let is_stray = owners[which] == 0 && is_running(which as c_int);
    if is_stray {
        kernel::stop_timer(which as c_int);
    }
    is_stray
}

/// Whether an image has made the timer of this number by its hooks. The C library's word for one that raises a signal is the
/// kernel's number.
pub(super) fn is_known(number: c_int) -> bool {
    lock(&MADE).iter().any(|made| made.timer.number() == number as usize)
}

/// Whether one of the process's timers runs.
pub(super) fn is_running(which: c_int) -> bool {
    let Some(now) = kernel::timer(which) else { return false };
    // One that has struck and whose signal is on its way has no time left, and goes on all the same.
    [now.it_value, now.it_interval].iter().any(|left| left.tv_sec != 0 || left.tv_usec != 0)
}
