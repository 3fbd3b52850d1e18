//! Restrictions while a module is being closed. A finalizer of the library (`.fini_array`) runs after the host has freed the resources of
//! the module, so the finalizer must not pass addresses of the module to the platform. Hooks that receive such addresses first call the
//! host to check that the module is not being closed.

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

/// Splits a string of the form `NAME=value` into name and value. Without an equals sign, the value is `None`. If the name or the value
/// contains a zero byte, the result is `None`.
pub(super) fn variable(text: &[u8]) -> Option<(CString, Option<CString>)> {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let name = CString::new(parts.next()?).ok()?;
    let value = parts.next().map(CString::new).transpose().ok()?;
    Some((name, value))
}
