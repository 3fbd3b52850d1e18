//! A signal that the neighbor sends itself: on the stack that signals have here, and on the thread's own. And a line for
//! the system's log, which has the name that the last `openlog` gave it.

use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

static SEEN: AtomicU32 = AtomicU32::new(0);

extern "C" fn seen(_signal: libc::c_int) {
    SEEN.fetch_add(1, Ordering::SeqCst);
}

/// Whether a signal arrives, and what was there before is put back.
pub(crate) fn arrive() -> Result<(), String> {
    for flags in [libc::SA_ONSTACK, 0] {
        SEEN.store(0, Ordering::SeqCst);
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zero bytes are a `sigaction`: the default action, no signal blocked, no flag.
        let action = unsafe { action.assume_init_mut() };
        action.sa_sigaction = seen as extern "C" fn(libc::c_int) as *const () as usize;
        action.sa_flags = flags;
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: `seen` does what a handler may, and is taken off before this function returns.
        let set = unsafe { libc::sigaction(libc::SIGUSR2, action, before.as_mut_ptr()) };
        // SAFETY: sends this thread a signal that has a handler.
        let sent = unsafe { libc::raise(libc::SIGUSR2) };
        // SAFETY: puts back what the call above has found.
        let back = unsafe { libc::sigaction(libc::SIGUSR2, before.as_ptr(), ptr::null_mut()) };
        let seen = SEEN.load(Ordering::SeqCst);
        if (set, sent, back, seen) != (0, 0, 0, 1) {
            return Err(format!("with flags {flags:#x} it arrived {seen} times ({set}, {sent}, {back})"));
        }
    }
    Ok(())
}

/// Says a line where no daemon listens: the C library puts the line together all the same.
pub(crate) fn tell_the_log() {
    if !Path::new("/dev/log").exists() {
        // SAFETY: the format is a text that ends with a zero and asks for no argument.
        unsafe { libc::syslog(libc::LOG_DEBUG, c"the neighbor has moved in".as_ptr()) };
    }
}
