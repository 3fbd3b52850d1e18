//! The habits of code that calls C.
#![expect(unsafe_code, reason = "calls C functions, as plugins do that wrap a C library")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::note;

const MEGABYTE: usize = 1024 * 1024;

/// The number of this thread.
pub(crate) fn thread_number() -> u64 {
    // SAFETY: asks for a number.
    unsafe { libc::pthread_self() }
}

extern "C" fn at_the_exit() {
    note("the exit handler ran");
}

pub(crate) fn at_exit() {
    // SAFETY: the handler is a function of this module, and whoever unmaps that runs it before.
    let refused = unsafe { libc::atexit(at_the_exit) };
    assert_eq!(refused, 0);
}

static SIGNALS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_signal: c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn signals() -> u64 {
    SIGNALS.load(Ordering::Relaxed)
}

pub(crate) fn signal_handler() {
    let handler: extern "C" fn(c_int) = count;
    // SAFETY: the handler only counts.
    let before = unsafe { libc::signal(libc::SIGUSR1, handler as *const () as libc::sighandler_t) };
    assert_ne!(before, libc::SIG_ERR);
    // SAFETY: raises a signal that has a handler.
    unsafe { libc::raise(libc::SIGUSR1) };
}

/// Mapped, used, and never unmapped.
pub(crate) fn mapping() {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh mapping wherever there is room.
    let memory = unsafe { libc::mmap(null_mut(), MEGABYTE, protection, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: mapped just now with this length.
    unsafe { memory.cast::<u8>().write_bytes(1, MEGABYTE) };
}

/// Allocated on the C heap, used, and never freed.
pub(crate) fn c_heap() {
    for _ in 0..100 {
        // SAFETY: any size will do.
        let memory = unsafe { libc::malloc(1000) };
        assert!(!memory.is_null());
        // SAFETY: allocated just now with this length.
        unsafe { memory.cast::<u8>().write_bytes(1, 1000) };
    }
}

extern "C" fn end_of_value(_value: *mut c_void) {
    note("the value of a key ended");
}

/// A value of this thread under a key that is never deleted.
pub(crate) fn key() {
    let mut key = 0;
    // SAFETY: `key` is written; the destructor is a function of this module.
    let refused = unsafe { libc::pthread_key_create(&raw mut key, Some(end_of_value)) };
    assert_eq!(refused, 0);
    // SAFETY: the key was created just now.
    let refused = unsafe { libc::pthread_setspecific(key, (&raw const SIGNALS).cast()) };
    assert_eq!(refused, 0);
}

/// A disposition by a function of old: the system knows it, and no hook does.
#[cfg(feature = "bypass")]
pub(crate) fn bypass() {
    // SAFETY: the signal is ignored by itself, and now by this word.
    let before = unsafe { sigset(libc::SIGWINCH, libc::SIG_IGN) };
    assert_ne!(before, libc::SIG_ERR);
}

#[cfg(feature = "bypass")]
unsafe extern "C" {
    fn sigset(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
}
