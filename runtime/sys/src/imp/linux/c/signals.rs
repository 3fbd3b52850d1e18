//! Signals as numbers, bits and words; actions and stacks as values; and a thread that gets no signal for a while.
//!
//! All of it may be used in a signal handler.
#![expect(unsafe_code, reason = "asks about signals in C")]

use std::ffi::c_int;
use std::mem::{self, MaybeUninit};
use std::ptr;

use super::kernel::errno;
use crate::ledger::disposition::Wish;

/// Signals are numbered from 1 to 64.
pub(in crate::imp::linux) const COUNT: usize = 65;

/// All signals are blocked on this thread.
pub(in crate::imp::linux) struct Quiet(libc::sigset_t);

impl Quiet {
    pub(in crate::imp::linux) fn new() -> Self {
        let (mut all, mut before) = (nothing().sa_mask, nothing().sa_mask);
        sigfillset(&mut all);
        pthread_sigmask(libc::SIG_SETMASK, &all, Some(&mut before));
        Self(before)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        pthread_sigmask(libc::SIG_SETMASK, &self.0, None);
    }
}

/// Whether modules may handle the signal: not those that no program can, and not those of the C library itself.
pub(in crate::imp::linux) fn is_ours(signal: c_int) -> bool {
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    (1..32).contains(&signal) && ![libc::SIGKILL, libc::SIGSTOP].contains(&signal) || real_time.contains(&signal)
}

pub(in crate::imp::linux) fn wish(action: &libc::sigaction) -> Wish {
    match action.sa_sigaction {
        libc::SIG_DFL => Wish::Default,
        libc::SIG_IGN => Wish::Ignore,
        _ => Wish::Handle,
    }
}

/// The default action.
pub(in crate::imp::linux) fn nothing() -> libc::sigaction {
    // SAFETY: the platform's headers make all zeroes an action: the default one, without flags and with an empty set.
    unsafe { mem::zeroed() }
}

/// What a signal does now; the error is an error number.
pub(in crate::imp::linux) fn action(signal: c_int) -> Result<libc::sigaction, c_int> {
    let mut now = nothing();
    // SAFETY: the C library sets nothing, and writes to `now` and nowhere else.
    match unsafe { libc::sigaction(signal, ptr::null(), &raw mut now) } {
        0 => Ok(now),
        _ => Err(errno()),
    }
}

/// Makes a signal do this; the error is an error number.
///
/// # Safety
///
/// If the action has a handler, that may be called whenever the signal comes, as its flags say.
pub(in crate::imp::linux) unsafe fn act(signal: c_int, action: &libc::sigaction) -> Result<(), c_int> {
    // SAFETY: the C library reads a whole action, whose handler our caller vouches for.
    match unsafe { libc::sigaction(signal, action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(errno()),
    }
}

/// Whether a set has a signal. A number that is no signal's is in none.
pub(in crate::imp::linux) fn is_in(set: &libc::sigset_t, signal: c_int) -> bool {
    sigismember(set, signal) == 1
}

/// Puts a signal into a set. A number that is no signal's changes nothing.
pub(in crate::imp::linux) fn add(set: &mut libc::sigset_t, signal: c_int) {
    sigaddset(set, signal);
}

/// The address that a fault is about. A signal without one has another number there, which may be compared.
pub(in crate::imp::linux) fn fault(info: &libc::siginfo_t) -> usize {
    // SAFETY: the kernel fills the whole record, so there is a word in this place.
    unsafe { info.si_addr() }.addr()
}

/// Lends a record and a context that say no more than the number of a signal and where this is. They stay where they are: the
/// one leads into itself.
pub(in crate::imp::linux) fn with_record(signal: c_int, see: impl FnOnce(*mut libc::siginfo_t, *mut libc::ucontext_t)) {
    let mut record = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut here = MaybeUninit::<libc::ucontext_t>::zeroed();
    // SAFETY: the platform's headers make all zeroes a record, and a context; the C library fills some of the latter. What it
    // does not fill stays zero: no alternate stack, for one.
    unsafe {
        record.assume_init_mut().si_signo = signal;
        getcontext(here.as_mut_ptr());
    }
    see(record.as_mut_ptr(), here.as_mut_ptr());
}

/// An alternate stack that a thread had, or may have: `stack_t`, as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::imp::linux) struct Stack {
    start: usize,
    size: usize,
    flags: c_int,
}

impl Stack {
    /// No such stack.
    pub(in crate::imp::linux) const NONE: Self = Self { start: 0, size: 0, flags: libc::SS_DISABLE };

    /// Makes one in leaked memory, for one thread.
    pub(in crate::imp::linux) fn of(memory: &'static mut [u8]) -> Self {
        Self { start: memory.as_mut_ptr().expose_provenance(), size: memory.len(), flags: 0 }
    }

    /// Makes one for comparisons.
    #[cfg(test)]
    pub(in crate::imp::linux) fn at(start: usize) -> Self {
        Self { start, size: 4096, flags: 0 }
    }

    /// Reads that of the calling thread; the error is an error number.
    pub(in crate::imp::linux) fn here() -> Result<Self, c_int> {
        let mut stack = MaybeUninit::<libc::stack_t>::uninit();
        // SAFETY: the kernel sets nothing, and has written the whole stack when it succeeds.
        let stack = unsafe {
            match libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) {
                0 => stack.assume_init(),
                _ => return Err(errno()),
            }
        };
        let (start, flags) = (stack.ss_sp.expose_provenance(), stack.ss_flags & !libc::SS_ONSTACK);
        Ok(Self { start, size: stack.ss_size, flags })
    }

    /// Gives the calling thread what it had before, or what is there for it; the error is an error number.
    pub(in crate::imp::linux) fn put(self) -> Result<(), c_int> {
        let ss_sp = ptr::with_exposed_provenance_mut(self.start);
        let stack = libc::stack_t { ss_sp, ss_flags: self.flags, ss_size: self.size };
        // SAFETY: the kernel reads a whole stack. Its memory is leaked, or the code that had set it for this thread has not
        // taken it back.
        match unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(errno()),
        }
    }

    /// Returns its first address.
    pub(in crate::imp::linux) fn start(self) -> usize {
        self.start
    }

    pub(in crate::imp::linux) fn is_there(self) -> bool {
        self.flags & libc::SS_DISABLE == 0
    }

    /// Checks if both are the same memory, or none.
    pub(in crate::imp::linux) fn is(self, other: Self) -> bool {
        match (self.is_there(), other.is_there()) {
            (true, true) => (self.start, self.size) == (other.start, other.size),
            (one, another) => one == another,
        }
    }
}

/// One bit for each signal; none for what is not the number of one.
pub(in crate::imp::linux) fn bit(signal: c_int) -> u64 {
    if (1..COUNT as c_int).contains(&signal) { 1 << (signal - 1) } else { 0 }
}

/// A signal by name and number.
pub(in crate::imp::linux) fn in_words(signal: c_int) -> String {
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

// SAFETY: all take whole sets that are borrowed for the call, and refuse a number beyond those of signals. Blocked signals harm no memory.
unsafe extern "C" {
    safe fn sigfillset(set: &mut libc::sigset_t) -> c_int;
    safe fn pthread_sigmask(how: c_int, set: &libc::sigset_t, old: Option<&mut libc::sigset_t>) -> c_int;
    safe fn sigismember(set: &libc::sigset_t, signal: c_int) -> c_int;
    safe fn sigaddset(set: &mut libc::sigset_t, signal: c_int) -> c_int;
}

unsafe extern "C" {
    fn getcontext(context: *mut libc::ucontext_t) -> c_int;
}
