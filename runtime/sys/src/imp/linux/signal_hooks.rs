//! The hooks of what raises signals, and of what starts processes; see [`super::hooks`], whose words and promises they
//! share.
#![expect(unsafe_code, reason = "they stand for functions of the C library")]
#![expect(clippy::missing_safety_doc, reason = "the promise is the same for all and stands in `hooks`")]

use std::ffi::{c_int, c_uint, c_void};

use super::c::kernel::set_errno;
use super::hooks::{borrow, gives_own_memory, share};
use super::{altstack, async_fds, children, fork, requests, signals, timers};

/// `sigaltstack`.
pub unsafe extern "C" fn alternate_stack(image: *const c_void, new: *const c_void, old: *mut c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { libc::sigaltstack(new.cast(), old.cast()) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { share(image) };
    // SAFETY: our caller promises a stack, or null.
    let memory = unsafe { new.cast::<libc::stack_t>().as_ref() }
        .filter(|stack| stack.ss_flags & libc::SS_DISABLE == 0)
        .map(|stack| stack.ss_sp);
    // SAFETY: as above.
    if memory.is_some_and(|memory| unsafe { gives_own_memory(image, memory, "sigaltstack") }) {
        set_errno(libc::ENOMEM);
        return -1;
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { altstack::set(ledger, new.cast(), old.cast()) }
}

/// `setitimer`.
pub unsafe extern "C" fn interval_timer(
    image: *const c_void,
    which: c_int,
    new: *const c_void,
    old: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_setitimer(which, new.cast(), old.cast()) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { timers::set(ledger, which, new.cast(), old.cast()) }
}

/// `alarm`.
pub unsafe extern "C" fn alarm(image: *const c_void, seconds: c_uint) -> c_uint {
    if fork::is_child() {
        // SAFETY: any number will do.
        return unsafe { libc::alarm(seconds) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    timers::alarm(unsafe { borrow(image) }, seconds)
}

/// `ualarm`.
pub unsafe extern "C" fn ualarm(image: *const c_void, first: c_uint, then: c_uint) -> c_uint {
    if fork::is_child() {
        // SAFETY: any numbers will do.
        return unsafe { c_ualarm(first, then) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    timers::ualarm(unsafe { borrow(image) }, first, then)
}

/// `timer_create`; `event` is a `struct sigevent` or null, `timer` a place for a `timer_t`.
pub unsafe extern "C" fn timer_create(
    image: *const c_void,
    clock: c_int,
    event: *const c_void,
    timer: *mut c_void,
) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_timer_create(clock, event, timer) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    if ledger.records.refuses("timer_create") {
        set_errno(libc::EAGAIN);
        return -1;
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { timers::create(ledger, clock, event, timer) }
}

/// `timer_delete`.
pub unsafe extern "C" fn timer_delete(_image: *const c_void, timer: usize) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_timer_delete(timer) };
    }
    // SAFETY: our caller promises what the C function demands.
    unsafe { timers::delete(timer) }
}

/// `mq_notify`.
pub unsafe extern "C" fn queue_notify(image: *const c_void, queue: c_int, event: *const c_void) -> c_int {
    if fork::is_child() {
        // SAFETY: our caller promises what the C function demands.
        return unsafe { c_mq_notify(queue, event) };
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    // SAFETY: our caller promises what the C function demands.
    unsafe { async_fds::tell_of_message(ledger, queue, event) }
}

/// `aio_read` (0), `aio_write` (1), or `aio_fsync` with that argument less two.
pub unsafe extern "C" fn io_begin(image: *const c_void, what: c_int, block: *mut c_void) -> c_int {
    let submit = || match what {
        // SAFETY: our caller promises what the C function demands.
        0 => unsafe { libc::aio_read(block.cast()) },
        // SAFETY: as above.
        1 => unsafe { libc::aio_write(block.cast()) },
        // SAFETY: as above.
        sync => unsafe { libc::aio_fsync(sync - 2, block.cast()) },
    };
    if fork::is_child() {
        return submit();
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    if ledger.records.refuses("aio_read or its like") {
        set_errno(libc::EAGAIN);
        return -1;
    }
    // SAFETY: our caller promises a block that may be given to the C library.
    unsafe { requests::begin_io(ledger, block, submit) }
}

/// `lio_listio`.
pub unsafe extern "C" fn io_begin_list(
    image: *const c_void,
    mode: c_int,
    list: *const *mut c_void,
    count: c_int,
    event: *const c_void,
) -> c_int {
    // SAFETY: our caller promises what the C function demands.
    let submit = |event: *const c_void| unsafe { c_lio_listio(mode, list, count, event) };
    // SAFETY: our caller promises it.
    unsafe { begin_list(image, false, mode, list, count, event, submit) }
}

/// `getaddrinfo_a`.
pub unsafe extern "C" fn names_begin(
    image: *const c_void,
    mode: c_int,
    list: *const *mut c_void,
    count: c_int,
    event: *const c_void,
) -> c_int {
    // SAFETY: our caller promises what the C function demands.
    let submit = |event: *const c_void| unsafe { c_getaddrinfo_a(mode, list, count, event) };
    // SAFETY: our caller promises it.
    unsafe { begin_list(image, true, mode, list, count, event, submit) }
}

/// A list of requests, for input and output or for names.
///
/// # Safety
///
/// What the C function demands that `submit` calls, and `image` as for all hooks.
unsafe fn begin_list(
    image: *const c_void,
    is_names: bool,
    mode: c_int,
    list: *const *mut c_void,
    count: c_int,
    event: *const c_void,
    submit: impl FnOnce(*const c_void) -> c_int,
) -> c_int {
    if fork::is_child() {
        return submit(event);
    }
    // SAFETY: our caller promises that it is a living ledger's word.
    let ledger = unsafe { borrow(image) };
    if ledger.records.refuses(if is_names { "getaddrinfo_a" } else { "lio_listio" }) {
        set_errno(libc::EAGAIN);
        return if is_names { libc::EAI_AGAIN } else { -1 };
    }
    // One that waits takes no event.
    let event = if mode == 0 { std::ptr::null() } else { event };
    // SAFETY: our caller promises a list and an event as the C function demands them.
    unsafe { requests::begin_list(ledger, is_names, list, count, event, submit) }
}

/// The module has changed whom a descriptor tells of what happens to it, by which signal, or whether it does at all.
pub unsafe extern "C" fn fd_signals(image: *const c_void, fd: c_int) {
    if !fork::is_child() {
        // SAFETY: our caller promises that it is a living ledger's word.
        async_fds::asked(unsafe { borrow(image) }, fd);
    }
}

/// The module is about to jump to where `setjmp` or one of its kin has filled this buffer.
pub unsafe extern "C" fn jumps(_image: *const c_void, buffer: *const c_void) {
    // SAFETY: our caller promises a buffer that was filled, of eight words at least.
    signals::jumps(unsafe { &*buffer.cast() });
}

/// The module has started a process of this number.
pub unsafe extern "C" fn child_started(image: *const c_void, pid: c_int) {
    if !fork::is_child() {
        children::started(image.addr(), pid);
    }
}

unsafe extern "C" {
    #[link_name = "setitimer"]
    fn c_setitimer(which: c_int, new: *const libc::itimerval, old: *mut libc::itimerval) -> c_int;
    #[link_name = "ualarm"]
    fn c_ualarm(first: c_uint, then: c_uint) -> c_uint;
    #[link_name = "timer_create"]
    fn c_timer_create(clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int;
    #[link_name = "timer_delete"]
    fn c_timer_delete(timer: usize) -> c_int;
    #[link_name = "mq_notify"]
    fn c_mq_notify(queue: c_int, event: *const c_void) -> c_int;
    #[link_name = "lio_listio"]
    fn c_lio_listio(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int;
    #[link_name = "getaddrinfo_a"]
    fn c_getaddrinfo_a(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int;
}
