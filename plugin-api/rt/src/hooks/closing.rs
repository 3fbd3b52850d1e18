//! Restrictions while a module is being closed. A finalizer of the library (`.fini_array`) runs after the host has removed all remaining
//! resources. The finalizer must therefore not pass addresses of the module to the platform. The host reports this state to the hooks.

use core::ffi::CStr;
use std::ffi::CString;

use super::{notes, platform};

/// Returns true and sets `errno` to `ENOMEM` if the module is being closed.
pub(super) fn is_refused(function: &CStr) -> bool {
    let is_refused = notes::refuses(function) != 0;
    if is_refused {
        platform::set_error(libc::ENOMEM);
    }
    is_refused
}

/// Splits a string of the form `NAME=value` into name and value. For a string without an equals sign, the value is `None`. For an invalid
/// string, the result is `None`.
pub(super) fn variable(text: &[u8]) -> Option<(CString, Option<CString>)> {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let name = CString::new(parts.next()?).ok()?;
    let value = parts.next().map(CString::new).transpose().ok()?;
    Some((name, value))
}
