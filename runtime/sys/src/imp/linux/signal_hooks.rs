//! Hooks of functions for signal stacks, timers, notifications, asynchronous requests and processes. See [`super::hooks`] for the format of
//! the definitions and for the promises of callers.
#![expect(unsafe_code, reason = "hooks replace functions of the C library")]
#![expect(clippy::missing_safety_doc, reason = "the promise is equal for all and documented in `hooks`")]

use std::ffi::{c_int, c_uint, c_void};

use super::c::callbacks::Event;
use super::c::kernel::{self, Timer, fail};
use super::hooks::{hooks, passes_own_memory, share};
use super::requests::IoBlock;
use super::{altstack, async_fds, children, handlers, locals, requests, timers};
use crate::ledger::uses::UseKind;

hooks! {
    /// Hook of `sigaltstack`.
    fn alternate_stack(image, new: *const c_void, old: *mut c_void) -> c_int = libc::sigaltstack(new.cast(), old.cast());
    in altstack |ledger, original| {
        // SAFETY: the module promises a stack, or null.
        let memory = unsafe { new.cast::<libc::stack_t>().as_ref() }
            .filter(|stack| stack.ss_flags & libc::SS_DISABLE == 0)
            .map(|stack| stack.ss_sp);
        if memory.is_some_and(|memory| passes_own_memory(ledger, memory, "sigaltstack")) {
            return fail(libc::ENOMEM, -1);
        }
        altstack::set(share(ledger), !new.is_null(), original, locals::arm_here)
    }

    /// Hook of `setitimer`.
    fn interval_timer(image, which: c_int, new: *const c_void, old: *mut c_void) -> c_int
        = libc::setitimer(which, new.cast(), old.cast());
    in sources |ledger, original| {
        // SAFETY: the module promises a timer, or null, which also stops the timer.
        let new = unsafe { new.cast::<libc::itimerval>().as_ref() };
        let stops = new.is_none_or(|new| new.it_value.tv_sec == 0 && new.it_value.tv_usec == 0);
        if !stops {
            ledger.uses.note(UseKind::Signal, || "called `setitimer`".to_owned());
        }
        // If the image may not set the timer, behaves as if the timer had been removed right after the call.
        timers::arm(ledger, which, stops, original).unwrap_or_else(|| {
            if let Some(now) = kernel::timer(which).filter(|_| !old.is_null()) {
                // SAFETY: the module promises a variable for the previous timer, or null.
                unsafe { old.cast::<libc::itimerval>().write(now) };
            }
            0
        })
    }

    /// Hook of `alarm`.
    fn alarm(image, seconds: c_uint) -> c_uint = libc::alarm(seconds);
    in sources |ledger, original| {
        ledger.uses.note(UseKind::Signal, || "called `alarm`".to_owned());
        timers::arm(ledger, libc::ITIMER_REAL, seconds == 0, original).unwrap_or(0)
    }

    /// Hook of `ualarm`.
    fn ualarm(image, first: c_uint, then: c_uint) -> c_uint = kernel::ualarm(first, then);
    in sources |ledger, original| {
        ledger.uses.note(UseKind::Signal, || "called `ualarm`".to_owned());
        timers::arm(ledger, libc::ITIMER_REAL, first == 0, original).unwrap_or(0)
    }

    /// Hook of `timer_create`. `event` is a `struct sigevent` or null, and `timer` points to a `timer_t`.
    fn timer_create(image, clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int
        = libc::timer_create(clock, event.cast_mut().cast(), timer.cast());
    in sources refuses "timer_create" with fail(libc::EAGAIN, -1); |ledger, _original| {
        // SAFETY: the module promises the clock, the variable for the timer, and an event or null; `timers` changes only the function
        // of the event.
        unsafe {
            timers::create(ledger, Event::read(event), |host_event| match libc::timer_create(clock, host_event, timer.cast()) {
                0 => Ok(Timer::new(timer.cast::<usize>().read())),
                result => Err(result),
            })
        }
    }

    /// Hook of `timer_delete`.
    fn timer_delete(image, timer: usize) -> c_int = libc::timer_delete(std::ptr::with_exposed_provenance_mut(timer));
    |_ledger, original| timers::delete(timer, original)

    /// Hook of `mq_notify`.
    fn queue_notify(image, queue: c_int, event: *const c_void) -> c_int = libc::mq_notify(queue, event.cast());
    in sources |ledger, _original| {
        // SAFETY: the module promises the queue, and an event or null. Only the function of the event is changed.
        unsafe { async_fds::notify_of_message(ledger, queue, Event::read(event), |host_event| libc::mq_notify(queue, host_event)) }
    }

    /// Hook of `aio_read` (0) and `aio_write` (1), and of `aio_fsync` with the argument `what - 2`.
    fn io_begin(image, what: c_int, block: *mut c_void) -> c_int = match what {
        0 => libc::aio_read(block.cast()),
        1 => libc::aio_write(block.cast()),
        sync => libc::aio_fsync(sync - 2, block.cast()),
    };
    in requests refuses "aio_read or its like" with fail(libc::EAGAIN, -1); |ledger, original| {
        if block.is_null() {
            return original();
        }
        // SAFETY: the module promises a whole block, which belongs to the module until the C library accepts the request, and again
        // after a rejection.
        unsafe {
            let slot = &raw mut (*block.cast::<IoBlock>()).event;
            requests::begin_io(ledger, block.addr(), slot.read(), |event| slot.write(event), original)
        }
    }

    /// Hook of `lio_listio`.
    fn io_begin_list(image, mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int
        = libc::lio_listio(mode, list.cast(), count, event.cast_mut().cast());
    in requests refuses "lio_listio" with fail(libc::EAGAIN, -1); |ledger, _original| {
        // SAFETY: the module promises a list and an event as required by the C function; only the function of the event is changed.
        unsafe {
            let submit = |host_event| libc::lio_listio(mode, list.cast(), count, host_event);
            requests::begin_list(ledger, false, &blocks_of(list, count), Event::read(notifying(mode, event)), submit)
        }
    }

    /// Hook of `getaddrinfo_a`.
    fn names_begin(image, mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int
        = c_getaddrinfo_a(mode, list, count, event.cast_mut().cast());
    in requests refuses "getaddrinfo_a" with fail(libc::EAGAIN, libc::EAI_AGAIN); |ledger, _original| {
        // SAFETY: the module promises a list and an event as required by the C function; only the function of the event is changed.
        unsafe {
            let submit = |host_event| c_getaddrinfo_a(mode, list, count, host_event);
            requests::begin_list(ledger, true, &blocks_of(list, count), Event::read(notifying(mode, event)), submit)
        }
    }

    /// Reports that the module has changed the owner, the signal or the mode of a descriptor's signals.
    fn fd_signals(image, fd: c_int) -> () = ();
    in sources |ledger, _none| async_fds::record_change(ledger, fd)

    /// Reports a process started by the module. The children of signal handlers are not recorded.
    fn child_started(image, pid: c_int) -> () = ();
    |_ledger, _none| if !handlers::is_running_here() {
        children::started(image.addr(), pid);
    }
}

/// Returns the blocks of a list of requests.
///
/// # Safety
///
/// The list has `count` entries.
unsafe fn blocks_of(list: *const *mut c_void, count: c_int) -> Vec<usize> {
    let entries = (0..usize::try_from(count).unwrap_or(0)).map(|at| list.wrapping_add(at));
    // SAFETY: our caller promises `count` entries.
    entries.map(|entry| unsafe { entry.read() }.addr()).collect()
}

/// Returns the address of the event that reports the end of a request list. Returns null if the call waits for the requests, because such a
/// call ignores the event.
fn notifying(mode: c_int, event: *const c_void) -> *const c_void {
    if mode == 0 { std::ptr::null() } else { event }
}

/// Reports that the module is about to jump to the target of this buffer. `setjmp` or a variant of `setjmp` has filled the buffer.
pub unsafe extern "C" fn jumps(_image: *const c_void, buffer: *const c_void) {
    // SAFETY: our caller promises a filled buffer of at least eight words.
    handlers::jumps(unsafe { &*buffer.cast() });
}

unsafe extern "C" {
    #[link_name = "getaddrinfo_a"]
    fn c_getaddrinfo_a(mode: c_int, list: *const *mut c_void, count: c_int, event: *mut libc::sigevent) -> c_int;
}
