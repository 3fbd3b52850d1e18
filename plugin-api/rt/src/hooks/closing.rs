//! What a module that is being closed may not do: leave the platform an address of its own, since a finaliser runs after
//! everything that could still be put right. A host says whether it is so far.

use core::ffi::CStr;
use std::ffi::CString;

use super::{notes, platform};

/// Whether the module is being closed. The error is then that there is no room.
pub(super) fn is_refused(function: &CStr) -> bool {
    let is_refused = notes::refuses(function) != 0;
    if is_refused {
        platform::set_error(libc::ENOMEM);
    }
    is_refused
}

/// The name of a variable and its value, which is missing where there is no sign of equality. None for what cannot be one.
pub(super) fn variable(text: &[u8]) -> Option<(CString, Option<CString>)> {
    let mut parts = text.splitn(2, |byte| *byte == b'=');
    let name = CString::new(parts.next()?).ok()?;
    let value = parts.next().map(CString::new).transpose().ok()?;
    Some((name, value))
}
