//! Hooks of what raises signals, of jumps out of handlers, and of what starts processes.
#![expect(unsafe_code, reason = "C functions, handed over to the host or the platform")]

use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use super::notes::{self, child_started, opened};
use super::platform;
use crate::slot::context;

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
    aio_read, aio_read(block: *mut c_void) -> c_int => io_begin(0);
    aio_write, aio_write(block: *mut c_void) -> c_int => io_begin(1);
}

/// `aio_fsync` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn aio_fsync(how: c_int, block: *mut c_void) -> c_int {
    // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
    unsafe {
        match (context(), how.checked_add(2)) {
            (Some(context), Some(what @ 2..)) => (context.table.io_begin)(context.image, what, block),
            // It refuses any other number.
            _ => platform::aio_fsync(how, block),
        }
    }
}

/// `FIOASYNC`, `FIOSETOWN`, `SIOCSPGRP`: requests of `ioctl` that are about signals.
const OF_SIGNALS: [c_ulong; 3] = [0x5452, 0x8901, 0x8902];

platform_hooks! {
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int, then |result| {
        // Some callers extend the sign of the request.
        if OF_SIGNALS.contains(&(request & 0xffff_ffff)) {
            notes::signals_changed(fd, result);
        }
    };
    /// What it returns is a descriptor; the host does not look at arguments that a caller does not give.
    mq_open(name: *const c_char, flags: c_int, mode: c_uint, attributes: *mut c_void) -> c_int, then |queue| opened(queue);
    mq_close(queue: c_int) -> c_int, first { notes::closed(queue); };
    fork() -> c_int, then |pid| child_started(pid);
}

macro_rules! jumps {
    ($($name:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module: it may leave a signal handler.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name(buffer: *mut c_void, value: c_int) {
            // SAFETY: our caller keeps to the C function's contract, gives a buffer that is filled, and the image is that of the
            // same context. The platform's function does not return, and nothing here is dropped.
            unsafe {
                if let Some(context) = context() {
                    (context.table.jumps)(context.image, buffer);
                }
                platform::$name(buffer, value);
            }
        }
    )*};
}

jumps! {
    longjmp;
    _longjmp;
    siglongjmp;
    __longjmp_chk;
}

macro_rules! spawners {
    ($($name:ident;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of this module.")]
        ///
        /// # Safety
        /// As the C function says.
        pub unsafe extern "C" fn $name(
            pid: *mut c_int,
            program: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *mut c_char,
            environment: *const *mut c_char,
        ) -> c_int {
            let mut number = 0;
            // SAFETY: our caller keeps to the C function's contract, and gives a place for the number, or null. It is written
            // to our own place first.
            unsafe {
                let result = platform::$name(&raw mut number, program, actions, attributes, arguments, environment);
                if result == 0 {
                    child_started(number);
                    if !pid.is_null() {
                        pid.write(number);
                    }
                }
                result
            }
        }
    )*};
}

spawners! {
    posix_spawn;
    posix_spawnp;
}

/// `vfork` of this module. The child uses the stack of whoever asked while that one waits, so the way back is kept in a
/// register, and the host is told when the child has gone its way.
///
/// # Safety
/// As the C function says.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub unsafe extern "C" fn vfork() -> c_int {
    core::arch::naked_asm!(
        "pop rdi",
        "mov eax, {number}",
        "syscall",
        "push rdi",
        "test eax, eax",
        "jz 2f",
        "push rax",
        "mov edi, eax",
        "call {child}",
        "pop rdi",
        "test edi, edi",
        "jns 2f",
        "neg edi",
        "sub rsp, 8",
        "call {refused}",
        "add rsp, 8",
        "2:",
        "ret",
        number = const libc::SYS_vfork,
        child = sym child_started,
        refused = sym refused,
    )
}

/// What C says of a system call that was refused with this error.
#[cfg(target_arch = "x86_64")]
extern "C" fn refused(error: c_int) -> c_int {
    platform::set_error(error);
    -1
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vfork_comes_back_in_both_processes() {
        for status in [0, 7] {
            // SAFETY: the child ends at once.
            let pid = unsafe { super::vfork() };
            if pid == 0 {
                // SAFETY: ends the child without any of the parent's code.
                unsafe { libc::_exit(status) };
            }
            assert!(pid > 0);
            let mut ended = 0;
            // SAFETY: waits for our own child.
            assert_eq!(unsafe { libc::waitpid(pid, &raw mut ended, 0) }, pid);
            assert!(libc::WIFEXITED(ended) && libc::WEXITSTATUS(ended) == status);
        }
    }
}
