//! Keys of thread-specific values. The C library looks a number up and refuses what is no key.
#![expect(unsafe_code, reason = "asks for keys in C")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// A key whose values have no destructor as far as the C library knows; the error is an error number.
pub(in crate::imp::linux) fn make() -> Result<c_uint, c_int> {
    let mut key = 0;
    match pthread_key_create(&mut key, None) {
        0 => Ok(key),
        error => Err(error),
    }
}

/// A key of the host's own, whose values are addresses that its destructor only compares.
pub(in crate::imp::linux) struct OwnKey(Option<c_uint>);

impl OwnKey {
    /// A key that could not be made does nothing.
    pub(in crate::imp::linux) fn new(destructor: extern "C" fn(*mut c_void)) -> Self {
        let mut key = 0;
        Self((pthread_key_create(&mut key, Some(destructor)) == 0).then_some(key))
    }

    /// Has the destructor called at the end of the calling thread, with a number that is not zero.
    pub(in crate::imp::linux) fn set(&self, value: usize) {
        if let Some(key) = self.0 {
            // SAFETY: the C library stores a number, and passes it to the destructor of this key.
            unsafe { libc::pthread_setspecific(key, ptr::without_provenance(value)) };
        }
    }
}

/// Deletes a key of which the C library knows no destructor.
pub(in crate::imp::linux) fn delete(key: c_uint) -> c_int {
    pthread_key_delete(key)
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

// SAFETY: the one writes a number to the place that it borrows, and is given destructors of the host's alone, which take any
// address; the other refuses a number that is no key.
unsafe extern "C" {
    safe fn pthread_key_create(key: &mut c_uint, destructor: Option<extern "C" fn(*mut c_void)>) -> c_int;
    safe fn pthread_key_delete(key: c_uint) -> c_int;
}
