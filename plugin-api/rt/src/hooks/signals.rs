//! Hooks of functions that raise signals, jump out of handlers, or start processes.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::notes::child_started;

hooks! {
    sigaltstack, sigaltstack(new: *const c_void, old: *mut c_void) -> c_int => alternate_stack;
    setitimer, setitimer(which: c_int, new: *const c_void, old: *mut c_void) -> c_int => interval_timer;
    alarm, alarm(seconds: c_uint) -> c_uint => alarm;
    ualarm, ualarm(first: c_uint, then: c_uint) -> c_uint => ualarm;
    timer_create, timer_create(clock: c_int, event: *const c_void, timer: *mut c_void) -> c_int => timer_create;
    timer_delete, timer_delete(timer: usize) -> c_int => timer_delete;
    mq_notify, mq_notify(queue: c_int, event: *const c_void) -> c_int => queue_notify;
    lio_listio, lio_listio(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int => io_begin_list;
    getaddrinfo_a, getaddrinfo_a(mode: c_int, list: *const *mut c_void, count: c_int, event: *const c_void) -> c_int => names_begin;
    aio_read, aio_read(block: *mut c_void) -> c_int => io_begin(0, block);
    aio_write, aio_write(block: *mut c_void) -> c_int => io_begin(1, block);
    // For an invalid `how`, the condition is false, so the hook calls the platform's function, which returns an error.
    aio_fsync, aio_fsync(how: c_int, block: *mut c_void) -> c_int, if (0..=c_int::MAX - 2).contains(&how) => io_begin(how + 2, block);
}

jumps! {
    longjmp;
    _longjmp;
    siglongjmp;
    __longjmp_chk;
}

around! {
    fork() -> c_int, |call| child(call());
}

spawners! {
    posix_spawn;
    posix_spawnp;
}

/// Reports a new child process and returns `pid`. Reports nothing in the child, or if no process was started.
pub(super) extern "C" fn child(pid: c_int) -> c_int {
    child_started(pid);
    pid
}

/// Sets `errno` to the error of a failed system call, and returns -1.
#[cfg(target_arch = "x86_64")]
pub(super) extern "C" fn refused(error: c_int) -> c_int {
    super::platform::set_error(error);
    -1
}
