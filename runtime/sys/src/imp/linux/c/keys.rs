//! Keys of thread-specific values. The C library looks a number up and refuses what is no key.
#![expect(unsafe_code, reason = "asks for keys in C")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// A key whose values have no destructor as far as the C library knows; `None` when all are taken.
pub(in crate::imp::linux) fn make() -> Option<c_uint> {
    let mut key = 0;
    // SAFETY: the C library writes a number to `key`, and no destructor is named.
    (unsafe { libc::pthread_key_create(&raw mut key, None) } == 0).then_some(key)
}

/// Deletes a key of which the C library knows no destructor.
pub(in crate::imp::linux) fn delete(key: c_uint) -> c_int {
    // SAFETY: the C library takes a number, and refuses one that is no key.
    unsafe { libc::pthread_key_delete(key) }
}

/// The calling thread's value of a key, which is then null.
pub(in crate::imp::linux) fn take(key: c_uint) -> *mut c_void {
    // SAFETY: the C library refuses a number that is no key, and no destructor is ever called with null.
    unsafe {
        let value = libc::pthread_getspecific(key);
        libc::pthread_setspecific(key, ptr::null());
        value
    }
}
