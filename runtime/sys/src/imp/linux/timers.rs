//! Timers that images set going. One that strikes when its image is gone would find no handler, and what the system does
//! then by itself is to end the process; so an image's timers are taken down before its handlers are.
//!
//! The interval timers of the process are three, and whoever sets one last has it. They may be set by a signal handler, so
//! whoever holds their lock has all signals blocked.
#![expect(unsafe_code, reason = "sets and deletes timers in C")]

use std::ffi::{c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;

use super::c::kernel::set_errno;
use super::c::signals::{Quiet, bit};
use super::lock;
use super::notices::{self, Event};
use crate::ledger::Ledger;

/// Whose each of the process's timers is: the address of a ledger, or zero.
static INTERVALS: Mutex<[usize; 3]> = Mutex::new([0; 3]);

/// The timers that images have made.
static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());

struct Made {
    owner: usize,
    /// The `timer_t`.
    timer: usize,
    signal: Option<c_int>,
    notice: Option<usize>,
}

/// The signal of each of the process's timers.
pub(super) const SIGNALS: [c_int; 3] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// `setitimer` for one image.
///
/// # Safety
///
/// What the C function demands.
pub(super) unsafe fn set(
    ledger: &Ledger,
    which: c_int,
    new: *const libc::itimerval,
    old: *mut libc::itimerval,
) -> c_int {
    armed(ledger, which, |is_closed| {
        if is_closed {
            // It is as though the image's timer had been taken down just after this.
            if !old.is_null() {
                // SAFETY: our caller promises a place for what was set.
                unsafe { c_getitimer(which, old) };
            }
            return 0;
        }
        // SAFETY: our caller promises what the function demands.
        unsafe { c_setitimer(which, new, old) }
    })
}

/// `alarm` for one image.
pub(super) fn alarm(ledger: &Ledger, seconds: c_uint) -> c_uint {
    armed(ledger, libc::ITIMER_REAL, |is_closed| {
        // SAFETY: any number will do.
        unsafe { libc::alarm(if is_closed { 0 } else { seconds }) }
    })
}

/// `ualarm` for one image.
pub(super) fn ualarm(ledger: &Ledger, first: c_uint, then: c_uint) -> c_uint {
    armed(ledger, libc::ITIMER_REAL, |is_closed| {
        let [first, then] = if is_closed { [0, 0] } else { [first, then] };
        // SAFETY: any numbers will do.
        unsafe { c_ualarm(first, then) }
    })
}

/// Sets one of the process's timers, and notes whose it is; `set` is told whether the image may not any more.
fn armed<T>(ledger: &Ledger, which: c_int, set: impl FnOnce(bool) -> T) -> T {
    let _quiet = Quiet::new();
    let mut owners = lock(&INTERVALS);
    let is_closed = ledger.records.is_closed();
    let result = set(is_closed);
    if let (false, Some(owner)) = (is_closed, usize::try_from(which).ok().and_then(|which| owners.get_mut(which))) {
        *owner = ptr::from_ref(ledger).addr();
    }
    result
}

/// `timer_create` for one image.
///
/// # Safety
///
/// What the C function demands.
pub(super) unsafe fn create(ledger: &Ledger, clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int {
    let owner = ptr::from_ref(ledger).addr();
    // SAFETY: our caller promises an event, or null.
    let event = unsafe { Event::read(event) };
    // Under the lock: whoever takes down what the image has must find this one, or be before it.
    let mut made = lock(&MADE);
    if ledger.records.is_closed() {
        set_errno(libc::EAGAIN);
        return -1;
    }
    let (told, notice) = event.map_or((None, None), |event| {
        let (event, notice) = event.through_host(owner, "a timer", false);
        (Some(event), notice)
    });
    let told = told.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: our caller promises the clock and the place for the timer, and the event is theirs but for the function.
    let result = unsafe { c_timer_create(clock, told.cast(), timer) };
    if result == 0 {
        // SAFETY: the C function has written it to the place that our caller promised.
        let timer = unsafe { timer.cast::<usize>().read() };
        let signal = event.map_or(Some(libc::SIGALRM), |event| event.raises());
        made.push(Made { owner, timer, signal, notice });
    } else {
        notice.into_iter().for_each(notices::strike);
    }
    result
}

/// `timer_delete` for whatever image.
///
/// # Safety
///
/// What the C function demands.
pub(super) unsafe fn delete(timer: usize) -> c_int {
    let mut made = lock(&MADE);
    if let Some(at) = made.iter().position(|known| known.timer == timer) {
        made.swap_remove(at).notice.into_iter().for_each(notices::strike);
    }
    // SAFETY: our caller promises that it is a timer of theirs.
    unsafe { c_timer_delete(timer) }
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
    lock(&MADE).retain(|timer| {
        if timer.owner == owner {
            timer.notice.into_iter().for_each(notices::strike);
            raised |= timer.signal.map_or(0, bit);
            // SAFETY: the image has made it and not deleted it.
            unsafe { c_timer_delete(timer.timer) };
        }
        timer.owner != owner
    });
    let _quiet = Quiet::new();
    let mut owners = lock(&INTERVALS);
    for (which, signal) in SIGNALS.into_iter().enumerate().filter(|(which, _)| owners[*which] == owner) {
        // SAFETY: all zeroes are a timer that does not run.
        let stopped: libc::itimerval = unsafe { std::mem::zeroed() };
        // SAFETY: the timer is the image's, who set it last.
        unsafe { c_setitimer(which as c_int, &raw const stopped, ptr::null_mut()) };
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
        // SAFETY: all zeroes are a timer that does not run.
        let stopped: libc::itimerval = unsafe { std::mem::zeroed() };
        // SAFETY: whoever has set the timer has no handler for it any more, as our caller has seen.
        unsafe { c_setitimer(which as c_int, &raw const stopped, ptr::null_mut()) };
    }
    is_stray
}

/// Whether an image has made the timer of this number by its hooks. The C library's word for one that raises a signal is the
/// kernel's number.
pub(super) fn is_known(number: c_int) -> bool {
    lock(&MADE).iter().any(|made| made.timer == number as usize)
}

/// Whether one of the process's timers runs.
pub(super) fn is_running(which: c_int) -> bool {
    let mut now = MaybeUninit::<libc::itimerval>::uninit();
    // SAFETY: the place is one for a timer's state.
    if unsafe { c_getitimer(which, now.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: the call has succeeded and so has written all of it.
    let now = unsafe { now.assume_init() };
    // One that has struck and whose signal is on its way has no time left, and goes on all the same.
    [now.it_value, now.it_interval].iter().any(|left| left.tv_sec != 0 || left.tv_usec != 0)
}

unsafe extern "C" {
    #[link_name = "setitimer"]
    fn c_setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    #[link_name = "getitimer"]
    fn c_getitimer(which: c_int, now: *mut libc::itimerval) -> c_int;
    #[link_name = "ualarm"]
    fn c_ualarm(first: c_uint, then: c_uint) -> c_uint;
    #[link_name = "timer_create"]
    fn c_timer_create(clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int;
    #[link_name = "timer_delete"]
    fn c_timer_delete(timer: usize) -> c_int;
}
