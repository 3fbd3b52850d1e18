//! Hooks of functions that the platform does alone, and that would leave it an address of a module which is being closed: a
//! finaliser runs after everything that could still be put right. A host says whether it is so far.
#![expect(unsafe_code, reason = "C functions, handed over to the platform")]

use core::ffi::{CStr, c_char, c_int};
use std::ffi::CString;

use super::platform;
use crate::outside::hook_context;

/// Whether the module is being closed. The error is then that there is no room.
pub(super) fn is_refused(function: &CStr) -> bool {
    let is_refused = hook_context().is_some_and(|context| {
        // SAFETY: the image is that of the same context; the function is named by a C string.
        unsafe { (context.table.refuses)(context.image, function.as_ptr()) != 0 }
    });
    if is_refused {
        // SAFETY: the place of this thread's error number.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: it is this thread's, and nobody else writes it.
        unsafe { *place = libc::ENOMEM };
    }
    is_refused
}

/// `putenv` of this module. The very string that it is given becomes a part of the environment; from a module that is being
/// closed, a copy does.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn putenv(text: *mut c_char) -> c_int {
    if !text.is_null() && is_refused(c"putenv") {
        // SAFETY: our caller gives a C string.
        let bytes = unsafe { CStr::from_ptr(text) }.to_bytes();
        return copy_into_environment(bytes);
    }
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::putenv(text) }
}

/// Without a sign of equality, the variable is taken out: so it is with the C function.
fn copy_into_environment(text: &[u8]) -> c_int {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let (Some(name), value) = (parts.next().and_then(|name| CString::new(name).ok()), parts.next()) else { return -1 };
    match value.map(CString::new) {
        // SAFETY: a C string.
        None => unsafe { libc::unsetenv(name.as_ptr()) },
        // SAFETY: two C strings, which the C library copies.
        Some(Ok(value)) => unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) },
        Some(Err(_)) => -1,
    }
}
