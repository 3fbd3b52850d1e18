//! Wrappers for signals: signal numbers and bits, signal actions, alternate stacks, and blocking of signals on threads.
//!
//! All functions are async-signal-safe.
#![expect(unsafe_code, reason = "queries signals in C")]

use std::ffi::c_int;
use std::mem::{self, MaybeUninit};
use std::ptr;

use super::kernel::errno;
use crate::ledger::disposition::Disposition;

/// Exclusive upper bound of signal numbers. Signal numbers start at 1.
pub(in crate::imp::linux) const COUNT: usize = 65;

/// Blocks all signals on this thread until this value is dropped.
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

/// Returns the `errno` value of the C library if the result of its function is nonzero.
fn checked(result: c_int) -> Result<(), c_int> {
    if result == 0 { Ok(()) } else { Err(errno()) }
}

/// Checks if modules may handle the signal. Excludes uncatchable signals and signals that the C library reserves.
pub(in crate::imp::linux) fn is_ours(signal: c_int) -> bool {
    let real_time = libc::SIGRTMIN()..=libc::SIGRTMAX();
    (1..32).contains(&signal) && ![libc::SIGKILL, libc::SIGSTOP].contains(&signal) || real_time.contains(&signal)
}

pub(in crate::imp::linux) fn disposition(action: &libc::sigaction) -> Disposition {
    match action.sa_sigaction {
        libc::SIG_DFL => Disposition::Default,
        libc::SIG_IGN => Disposition::Ignore,
        _ => Disposition::Handle,
    }
}

pub(in crate::imp::linux) fn nothing() -> libc::sigaction {
    // SAFETY: in the platform's headers, zeros are a valid action: the default one without flags and with an empty set.
    unsafe { mem::zeroed() }
}

pub(in crate::imp::linux) fn action(signal: c_int) -> Result<libc::sigaction, c_int> {
    let mut now = nothing();
    // SAFETY: the C library sets nothing, and writes only to `now`.
    checked(unsafe { libc::sigaction(signal, ptr::null(), &raw mut now) }).map(|()| now)
}

/// Sets the action of a signal. The error is the `errno` value of the C library.
///
/// # Safety
///
/// The handler of the action, if any, may be called whenever the signal arrives, according to the flags of the action.
pub(in crate::imp::linux) unsafe fn act(signal: c_int, action: &libc::sigaction) -> Result<(), c_int> {
    // SAFETY: the C library reads a whole action, whose handler our caller vouches for.
    checked(unsafe { libc::sigaction(signal, action, ptr::null_mut()) })
}

/// Checks if a set contains a signal. Returns `false` for invalid numbers.
pub(in crate::imp::linux) fn is_in(set: &libc::sigset_t, signal: c_int) -> bool {
    sigismember(set, signal) == 1
}

/// Adds a signal to a set. Ignores invalid numbers.
pub(in crate::imp::linux) fn add(set: &mut libc::sigset_t, signal: c_int) {
    sigaddset(set, signal);
}

/// Returns the address of a fault. For a signal without an address, returns an unrelated number: callers only compare or print the result.
pub(in crate::imp::linux) fn fault(info: &libc::siginfo_t) -> usize {
    // SAFETY: the kernel fills the whole record, so this word is initialized.
    unsafe { info.si_addr() }.addr()
}

/// Calls `see` with a record and a context that contain only the signal number and the current state. Neither may be moved, because the
/// context contains a pointer to itself.
pub(in crate::imp::linux) fn with_record(signal: c_int, see: impl FnOnce(*mut libc::siginfo_t, *mut libc::ucontext_t)) {
    let mut record = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut here = MaybeUninit::<libc::ucontext_t>::zeroed();
    // SAFETY: in the platform's headers, zeros are a valid record and context; the C library fills a part of the context. The rest
    // stays zero, such as the alternate stack.
    unsafe {
        record.assume_init_mut().si_signo = signal;
        libc::getcontext(here.as_mut_ptr());
    }
    see(record.as_mut_ptr(), here.as_mut_ptr());
}

/// Alternate stack of a thread: `stack_t` as a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::imp::linux) struct Stack {
    start: usize,
    size: usize,
    flags: c_int,
}

impl Stack {
    pub(in crate::imp::linux) const NONE: Self = Self { start: 0, size: 0, flags: libc::SS_DISABLE };

    /// Makes an alternate stack in leaked memory, for one thread.
    pub(in crate::imp::linux) fn of(memory: &'static mut [u8]) -> Self {
        Self { start: memory.as_mut_ptr().expose_provenance(), size: memory.len(), flags: 0 }
    }

    /// Returns the alternate stack of the calling thread. The error is the `errno` value of the C library.
    pub(in crate::imp::linux) fn here() -> Result<Self, c_int> {
        let mut stack = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: the kernel sets nothing, and writes only to `stack`.
        checked(unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) })?;
        let (start, flags) = (stack.ss_sp.expose_provenance(), stack.ss_flags & !libc::SS_ONSTACK);
        Ok(Self { start, size: stack.ss_size, flags })
    }

    /// Sets the alternate stack of the calling thread. The stack must be a previous stack of the thread, or a stack that was created for
    /// the thread. The error is the `errno` value of the C library.
    pub(in crate::imp::linux) fn put(self) -> Result<(), c_int> {
        let ss_sp = ptr::with_exposed_provenance_mut(self.start);
        let stack = libc::stack_t { ss_sp, ss_flags: self.flags, ss_size: self.size };
        // SAFETY: the kernel reads a whole stack. Its memory is leaked, or the code that set the stack for this thread has not freed it.
        checked(unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) })
    }

    pub(in crate::imp::linux) fn start(self) -> usize {
        self.start
    }

    pub(in crate::imp::linux) fn is_there(self) -> bool {
        self.flags & libc::SS_DISABLE == 0
    }

    /// Checks if both stacks have equal memory ranges, or if both stacks are disabled.
    pub(in crate::imp::linux) fn is(self, other: Self) -> bool {
        match (self.is_there(), other.is_there()) {
            (true, true) => (self.start, self.size) == (other.start, other.size),
            (one, another) => one == another,
        }
    }
}

#[cfg(test)]
impl Stack {
    pub(in crate::imp::linux) fn at(start: usize) -> Self {
        Self { start, size: 4096, flags: 0 }
    }
}

/// Returns the bit of a signal. Returns zero for invalid numbers.
pub(in crate::imp::linux) fn bit(signal: c_int) -> u64 {
    if (1..COUNT as c_int).contains(&signal) { 1 << (signal - 1) } else { 0 }
}

pub(in crate::imp::linux) fn signal_name(signal: c_int) -> String {
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

// SAFETY: all functions take whole sets that are borrowed for the call, and reject invalid signal numbers. Blocked signals do not affect
// memory safety.
unsafe extern "C" {
    safe fn sigfillset(set: &mut libc::sigset_t) -> c_int;
    safe fn pthread_sigmask(how: c_int, set: &libc::sigset_t, old: Option<&mut libc::sigset_t>) -> c_int;
    safe fn sigismember(set: &libc::sigset_t, signal: c_int) -> c_int;
    safe fn sigaddset(set: &mut libc::sigset_t, signal: c_int) -> c_int;
}
