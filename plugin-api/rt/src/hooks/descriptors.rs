//! Hooks of functions that change and close file descriptors. The platform executes the call, and the hook notifies the host.

use core::ffi::{c_int, c_ulong};

use super::notes::{closed, signals_changed};

const F_SETOWN: c_int = 8;
const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;

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
