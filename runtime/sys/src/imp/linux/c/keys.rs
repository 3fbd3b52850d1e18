//! Keys of thread-specific values. The C library rejects numbers that are not keys.
#![expect(unsafe_code, reason = "creates keys in C")]

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// Creates a key without a destructor in the C library. The error is an error number.
pub(in crate::imp::linux) fn make() -> Result<c_uint, c_int> {
    let mut key = 0;
    match pthread_key_create(&mut key, None) {
        0 => Ok(key),
        error => Err(error),
    }
}

/// Key of the host. Its values are addresses. The destructor of the key only compares these addresses.
pub(in crate::imp::linux) struct OwnKey(Option<c_uint>);

impl OwnKey {
    /// Creates a key. If no key is free, the returned value has no effect.
    pub(in crate::imp::linux) fn new(destructor: extern "C" fn(*mut c_void)) -> Self {
        let mut key = 0;
        Self((pthread_key_create(&mut key, Some(destructor)) == 0).then_some(key))
    }

    /// Makes the C library call the destructor of the key at the end of the calling thread. `value` must be nonzero.
    pub(in crate::imp::linux) fn set(&self, value: usize) {
        if let Some(key) = self.0 {
            // SAFETY: the C library stores a number, and passes it to the destructor of this key.
            unsafe { libc::pthread_setspecific(key, ptr::without_provenance(value)) };
        }
    }
}

/// Returns the calling thread's value of a key, and sets it to null.
pub(in crate::imp::linux) fn take(key: c_uint) -> *mut c_void {
    // SAFETY: the C library rejects numbers that are not keys, and never calls a destructor with null.
    unsafe {
        let value = libc::pthread_getspecific(key);
        libc::pthread_setspecific(key, ptr::null());
        value
    }
}

// SAFETY: `pthread_key_create` writes a number to the borrowed variable, and receives only destructors of the host, which accept any
// address. `pthread_key_delete` rejects numbers that are not keys.
unsafe extern "C" {
    safe fn pthread_key_create(key: &mut c_uint, destructor: Option<extern "C" fn(*mut c_void)>) -> c_int;
    /// Deletes a key without a destructor in the C library.
    #[link_name = "pthread_key_delete"]
    pub(in crate::imp::linux) safe fn delete(key: c_uint) -> c_int;
}
