//! State that the C library stores for the whole process: thread-specific keys, exit handlers, signal handlers.
#![expect(unsafe_code, reason = "registers C functions with the C library")]

use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, zeroed};
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::counters::{Counted, Kind};
use crate::errors;

static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
static AT_EXIT: OnceLock<Counted> = OnceLock::new();
/// Numbers of runs of the two signal handlers. Each number must equal the number of raised signals.
static PLAIN_SIGNALS: AtomicU64 = AtomicU64::new(0);
static HOOKED_SIGNALS: AtomicU64 = AtomicU64::new(0);

/// Sets the value of this module's key on the calling thread, if the value is not set.
pub(crate) fn touch_key() {
    let key = *KEY.get_or_init(|| {
        let mut key = MaybeUninit::uninit();
        // SAFETY: `key` is writable, and the destructor takes what `touch_key` stores.
        let result = unsafe { libc::pthread_key_create(key.as_mut_ptr(), Some(drop_value)) };
        assert_eq!(result, 0, "pthread_key_create");
        // SAFETY: the call succeeded, so the key is written.
        unsafe { key.assume_init() }
    });
    // SAFETY: the key is this module's and never deleted.
    if !unsafe { libc::pthread_getspecific(key) }.is_null() {
        return;
    }
    let value = Box::into_raw(Box::new(Counted::new(Kind::Key)));
    // SAFETY: the key is this module's and never deleted; the value is a box that the destructor takes back.
    let result = unsafe { libc::pthread_setspecific(key, value.cast::<c_void>()) };
    if result != 0 {
        errors::add(format!("pthread_setspecific: {result}"));
    }
}

/// # Safety
/// `value` is a box that `touch_key` stored on this thread, passed once.
unsafe extern "C" fn drop_value(value: *mut c_void) {
    // SAFETY: promised by the caller, the C library or the host in its place.
    drop(unsafe { Box::from_raw(value.cast::<Counted>()) });
}

/// Registers an exit handler.
pub(crate) fn at_exit() {
    AT_EXIT.get_or_init(|| Counted::new(Kind::Exit));
    // SAFETY: the handler takes nothing and never unwinds.
    let result = unsafe { libc::atexit(exit_handler) };
    if result != 0 {
        errors::add(format!("atexit: {result}"));
    }
}

extern "C" fn exit_handler() {
    if let Some(counted) = AT_EXIT.get() {
        counted.run();
    }
}

/// Installs two signal handlers: one by `sigaction`, the other by the crate `signal-hook`.
pub(crate) fn handle_signals() {
    // SAFETY: all zero is a valid `sigaction` with no flags and an empty mask.
    let mut action: libc::sigaction = unsafe { zeroed() };
    let handler: extern "C" fn(c_int) = count_signal;
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_RESTART;
    let mut old = action;
    // SAFETY: both are complete `sigaction`s, and the handler only adds to an atomic.
    let result = unsafe { libc::sigaction(libc::SIGUSR1, &action, &mut old) };
    if result != 0 {
        errors::add("SIGUSR1 cannot be handled");
    } else if old.sa_sigaction != libc::SIG_DFL {
        errors::add("this module sees another handler of SIGUSR1");
    }
    // SAFETY: the closure only adds to an atomic.
    let hooked = unsafe {
        signal_hook::low_level::register(libc::SIGUSR2, || {
            HOOKED_SIGNALS.fetch_add(1, Ordering::Relaxed);
        })
    };
    if let Err(error) = hooked {
        errors::add(format!("SIGUSR2: {error}"));
    }
    // SAFETY: a null new action only reads the current one.
    let result = unsafe { libc::sigaction(libc::SIGUSR1, null_mut(), &mut old) };
    if result != 0 || old.sa_sigaction != handler as usize {
        errors::add("this module does not see its own handler of SIGUSR1");
    }
}

extern "C" fn count_signal(_signal: c_int) {
    PLAIN_SIGNALS.fetch_add(1, Ordering::Relaxed);
}

/// Raises both signals. The handlers of this module must receive each signal exactly once.
pub(crate) fn raise_signals() {
    for (signal, name, counter) in
        [(libc::SIGUSR1, "SIGUSR1", &PLAIN_SIGNALS), (libc::SIGUSR2, "SIGUSR2", &HOOKED_SIGNALS)]
    {
        let before = counter.load(Ordering::Relaxed);
        // SAFETY: this module handles the signal, on this thread and synchronously.
        let result = unsafe { libc::raise(signal) };
        let seen = counter.load(Ordering::Relaxed) - before;
        if (result, seen) != (0, 1) {
            errors::add(format!("{name} was raised once and seen {seen} times"));
        }
    }
}
