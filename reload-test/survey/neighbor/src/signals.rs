//! Sends two signals to this thread. The handler of the first signal runs on the alternate signal stack, the handler of the second signal
//! on the thread's stack. Also writes a line to the system log, under the name that the last call of `openlog` has set.

use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

static RECEIVED: AtomicU32 = AtomicU32::new(0);

extern "C" fn on_signal(_signal: libc::c_int) {
    RECEIVED.fetch_add(1, Ordering::SeqCst);
}

/// Checks that a signal arrives, and restores the previous action.
pub(crate) fn arrive() -> Result<(), String> {
    for flags in [libc::SA_ONSTACK, 0] {
        RECEIVED.store(0, Ordering::SeqCst);
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zero bytes are a `sigaction`: the default action, no signal blocked, no flag.
        let action = unsafe { action.assume_init_mut() };
        action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as *const () as usize;
        action.sa_flags = flags;
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: `on_signal` is async-signal-safe, and is removed before this function returns.
        let set = unsafe { libc::sigaction(libc::SIGUSR2, action, before.as_mut_ptr()) };
        // SAFETY: sends this thread a signal that has a handler.
        let sent = unsafe { libc::raise(libc::SIGUSR2) };
        // SAFETY: restores the action that the call above returned.
        let back = unsafe { libc::sigaction(libc::SIGUSR2, before.as_ptr(), ptr::null_mut()) };
        let received = RECEIVED.load(Ordering::SeqCst);
        if (set, sent, back, received) != (0, 0, 0, 1) {
            return Err(format!("with flags {flags:#x} it arrived {received} times ({set}, {sent}, {back})"));
        }
    }
    Ok(())
}

/// Writes a line to the system log. The C library formats the line even without a log daemon.
pub(crate) fn write_to_log() {
    if !Path::new("/dev/log").exists() {
        // SAFETY: the format is a zero-terminated string without conversions.
        unsafe { libc::syslog(libc::LOG_DEBUG, c"the neighbor has moved in".as_ptr()) };
    }
}
