//! Hooks of functions that jump out of signal handlers, or start processes.

use core::ffi::{c_char, c_int, c_void};

use super::notes::child_started;

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
