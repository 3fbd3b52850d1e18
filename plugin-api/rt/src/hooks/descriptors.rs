//! Hooks of functions that create and close file descriptors. The platform executes the call, and the hook notifies the host.

use core::ffi::{c_char, c_int, c_uint, c_ulong, c_void};

use super::notes::{closed, signals_changed};

const F_SETOWN: c_int = 8;
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;

// `mq_open` also returns a descriptor. If a caller omits variadic arguments, the hook passes undefined values, which the platform ignores.
openers! {
    open(path: *const c_char, flags: c_int, mode: c_uint);
    openat(folder: c_int, path: *const c_char, flags: c_int, mode: c_uint);
    creat(path: *const c_char, mode: c_uint);
    mkstemp(template: *mut c_char);
    mkostemp(template: *mut c_char, flags: c_int);
    socket(domain: c_int, kind: c_int, protocol: c_int);
    accept(socket: c_int, address: *mut c_void, len: *mut c_uint);
    accept4(socket: c_int, address: *mut c_void, len: *mut c_uint, flags: c_int);
    dup(fd: c_int);
    dup2(fd: c_int, new: c_int);
    dup3(fd: c_int, new: c_int, flags: c_int);
    epoll_create(size: c_int);
    epoll_create1(flags: c_int);
    eventfd(value: c_uint, flags: c_int);
    timerfd_create(clock: c_int, flags: c_int);
    signalfd(fd: c_int, mask: *const c_void, flags: c_int);
    inotify_init();
    inotify_init1(flags: c_int);
    memfd_create(name: *const c_char, flags: c_uint);
    mq_open(name: *const c_char, flags: c_int, mode: c_uint, attributes: *mut c_void);
}

pair_openers! {
    pipe(pair: *mut c_int; pair);
    pipe2(pair: *mut c_int, flags: c_int; pair);
    socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int; pair);
}

// After the call, the stream or directory stream owns the descriptor.
streams! {
    fdopen(fd: c_int, mode: *const c_char), 1 with fd;
    fdopendir(fd: c_int), 5 with fd;
}

around! {
    /// Notifies the host before the call. After the call, another thread may already have opened a descriptor with this number.
    close(fd: c_int) -> c_int, |call| {
        closed(fd);
        call()
    };
    /// On Linux, a message queue is a file descriptor.
    mq_close(queue: c_int) -> c_int, |call| {
        closed(queue);
        call()
    };
    /// Notifies the host after each of the three `ioctl` requests that control signals.
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int, |call| {
        let result = call();
        if uses_signals(request) {
            signals_changed(fd, result);
        }
        result
    };
}

/// Effect of an `fcntl` command that the hook reports to the host.
pub(super) enum FcntlEffect {
    MakesOne,
    Signals,
    /// The command needs no report.
    Nothing,
}

pub(super) fn effect_of_fcntl(command: c_int, argument: usize) -> FcntlEffect {
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => FcntlEffect::MakesOne,
        F_SETOWN | F_SETSIG | F_SETOWN_EX | libc::F_NOTIFY | libc::F_SETLEASE => FcntlEffect::Signals,
        libc::F_SETFL if argument & libc::O_ASYNC as usize != 0 => FcntlEffect::Signals,
        _ => FcntlEffect::Nothing,
    }
}

/// Matches the requests `FIOASYNC`, `FIOSETOWN` and `SIOCSPGRP`. Ignores the high bits, because some callers sign-extend the request.
fn uses_signals(request: c_ulong) -> bool {
    matches!(request & 0xffff_ffff, 0x5452 | 0x8901 | 0x8902)
}
