//! Leaves a stream with custom functions open, with data in its buffer. The next generation flushes all streams.

use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
struct Functions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

unsafe extern "C" {
    fn fopencookie(cookie: *mut c_void, mode: *const c_char, functions: Functions) -> *mut libc::FILE;
}

unsafe extern "C" fn write(_cookie: *mut c_void, _bytes: *const c_char, len: usize) -> isize {
    len.cast_signed()
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    // SAFETY: a null stream flushes all streams.
    let refused = unsafe { libc::fflush(std::ptr::null_mut()) };
    let functions = Functions { read: None, write: Some(write), seek: None, close: None };
    // SAFETY: the functions do not access the cookie.
    let stream = unsafe { fopencookie(std::ptr::null_mut(), c"w".as_ptr(), functions) };
    if stream.is_null() || refused != 0 {
        return "the streams are spoiled".to_owned();
    }
    // SAFETY: a C string for an open stream.
    unsafe { libc::fputs(c"surveyed".as_ptr(), stream) };
    "ok".to_owned()
}

pub(crate) fn end() {}
