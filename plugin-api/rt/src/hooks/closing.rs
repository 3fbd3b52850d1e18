//! Hooks of functions that the platform does alone, and that would leave it an address of a module which is being closed: a
//! finaliser runs after everything that could still be put right. A host says whether it is so far.
#![expect(unsafe_code, reason = "C functions, handed over to the platform")]

use core::ffi::{CStr, c_char, c_int};
use std::ffi::CString;

use super::{notes, platform};

/// Whether the module is being closed. The error is then that there is no room.
pub(super) fn is_refused(function: &CStr) -> bool {
    let is_refused = notes::refuses(function);
    if is_refused {
        platform::set_error(libc::ENOMEM);
    }
    is_refused
}

/// `putenv` of this module. The very string that it is given becomes a part of the environment; from a module that is being
/// closed, a copy does.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn putenv(text: *mut c_char) -> c_int {
    let is_refused = !text.is_null() && is_refused(c"putenv");
    // SAFETY: our caller keeps to the C function's contract and gives a C string.
    unsafe { if is_refused { copy_into_environment(CStr::from_ptr(text).to_bytes()) } else { platform::putenv(text) } }
}

/// Without a sign of equality, the variable is taken out: so it is with the C function.
fn copy_into_environment(text: &[u8]) -> c_int {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let (Some(name), value) = (parts.next().and_then(|name| CString::new(name).ok()), parts.next()) else { return -1 };
    let Ok(value) = value.map(CString::new).transpose() else { return -1 };
    // SAFETY: C strings, which the C library copies.
    unsafe {
        match value {
            None => libc::unsetenv(name.as_ptr()),
            Some(value) => libc::setenv(name.as_ptr(), value.as_ptr(), 1),
        }
    }
}
