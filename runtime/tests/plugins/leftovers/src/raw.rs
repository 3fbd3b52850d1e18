//! Habits of code that calls C: functions that leave resources behind.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::note;

const MEGABYTE: usize = 1024 * 1024;

pub(crate) fn thread_number() -> u64 {
    // SAFETY: returns the thread id.
    unsafe { libc::pthread_self() }
}

extern "C" fn at_the_exit() {
    note("the exit handler ran");
}

pub(crate) fn at_exit() {
    // SAFETY: the handler is a function of this module, and the host runs exit handlers before unmapping the module.
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
    // SAFETY: the signal has a handler.
    unsafe { libc::raise(libc::SIGUSR1) };
}

/// Maps memory, uses it, and never unmaps it.
pub(crate) fn mapping() {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: creates a new mapping at a free address.
    let memory = unsafe { libc::mmap(null_mut(), MEGABYTE, protection, flags, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: `mmap` has mapped a megabyte of writable memory.
    unsafe { memory.cast::<u8>().write_bytes(1, MEGABYTE) };
}

/// Allocates a block on the C heap, writes to it, and never frees it.
pub(crate) fn c_heap() {
    for _ in 0..100 {
        // SAFETY: `malloc` accepts any size.
        let memory = unsafe { libc::malloc(1000) };
        assert!(!memory.is_null());
        // SAFETY: `malloc` has allocated 1000 bytes.
        unsafe { memory.cast::<u8>().write_bytes(1, 1000) };
    }
}

extern "C" fn end_of_value(_value: *mut c_void) {
    note("the value of a key ended");
}

/// Sets a thread-specific value under a key. The key is never deleted.
pub(crate) fn key() {
    let mut key = 0;
    // SAFETY: `key` is valid for one key; the destructor is a function of this module.
    let refused = unsafe { libc::pthread_key_create(&raw mut key, Some(end_of_value)) };
    assert_eq!(refused, 0);
    // SAFETY: `pthread_key_create` has created the key.
    let refused = unsafe { libc::pthread_setspecific(key, (&raw const SIGNALS).cast()) };
    assert_eq!(refused, 0);
}

/// Sets the disposition of a signal through a legacy function that has no hook.
#[cfg(feature = "bypass")]
pub(crate) fn bypass() {
    // SAFETY: the default disposition of the signal already ignores it.
    let before = unsafe { sigset(libc::SIGWINCH, libc::SIG_IGN) };
    assert_ne!(before, libc::SIG_ERR);
}

#[cfg(feature = "bypass")]
unsafe extern "C" {
    fn sigset(signal: c_int, handler: libc::sighandler_t) -> libc::sighandler_t;
}
