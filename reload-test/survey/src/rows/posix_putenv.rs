//! Adds a string in the plugin's memory to the environment. The next generation reads this string.

use std::ffi::{CStr, CString};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: the name is a C string.
    let before = unsafe { libc::getenv(c"ALCEDO_SURVEY".as_ptr()) };
    // SAFETY: values in the environment are C strings.
    let is_sound = before.is_null() || unsafe { CStr::from_ptr(before) } == c"surveyed";
    let text = CString::new("ALCEDO_SURVEY=surveyed").expect("no zero byte");
    // SAFETY: the string stays at its address as long as this module does.
    let refused = unsafe { libc::putenv(text.into_raw()) };
    if is_sound && refused == 0 { "ok".to_owned() } else { "the environment is spoiled".to_owned() }
}

pub(crate) fn end() {}
