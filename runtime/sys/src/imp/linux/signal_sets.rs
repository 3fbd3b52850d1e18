//! Signals as numbers, bits and words, and a thread that gets none for a while.
#![expect(unsafe_code, reason = "blocks signals in C")]

use std::ffi::c_int;
use std::mem::{self, MaybeUninit};
use std::ptr;

use crate::ledger::disposition::Wish;

/// Signals are numbered from 1 to 64.
pub(super) const COUNT: usize = 65;

/// All signals are blocked on this thread.
pub(super) struct Quiet(libc::sigset_t);

impl Quiet {
    pub(super) fn new() -> Self {
        let mut all = MaybeUninit::uninit();
        // SAFETY: the function initialises the set.
        unsafe { libc::sigfillset(all.as_mut_ptr()) };
        let mut before = MaybeUninit::uninit();
        // SAFETY: the first set was filled, the second is a place for one.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) };
        // SAFETY: the call cannot fail with these arguments and has written the set.
        Self(unsafe { before.assume_init() })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: the set is the one that was there before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

/// Whether modules may handle the signal: not those that nobody can, and not those of the C library itself.
pub(super) fn is_ours(signal: c_int) -> bool {
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    (1..32).contains(&signal) && ![libc::SIGKILL, libc::SIGSTOP].contains(&signal) || real_time.contains(&signal)
}

pub(super) fn wish(action: &libc::sigaction) -> Wish {
    match action.sa_sigaction {
        libc::SIG_DFL => Wish::Default,
        libc::SIG_IGN => Wish::Ignore,
        _ => Wish::Handle,
    }
}

/// The default action.
pub(super) fn nothing() -> libc::sigaction {
    // SAFETY: all zeroes are an action: the default one, without flags and with an empty set.
    unsafe { mem::zeroed() }
}

/// One bit for each signal; none for what is not the number of one.
pub(super) fn bit(signal: c_int) -> u64 {
    if (1..COUNT as c_int).contains(&signal) { 1 << (signal - 1) } else { 0 }
}

/// A signal by name and number.
pub(super) fn in_words(signal: c_int) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
        "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
        "WINCH", "IO", "PWR", "SYS",
    ];
    match usize::try_from(signal - 1).ok().and_then(|at| NAMES.get(at)) {
        Some(name) => format!("SIG{name} ({signal})"),
        None => format!("SIGRTMIN+{} ({signal})", signal - libc::SIGRTMIN()),
    }
}
