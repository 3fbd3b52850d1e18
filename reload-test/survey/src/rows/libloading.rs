//! Opens a library of the system. The library is closed when the module ends. In the row `libloading-leaked`, the library is left in a
//! static.
#![allow(unsafe_code, reason = "loading a library is unsafe, as it runs code of it")]

use std::ffi::c_int;

use crate::local::Kept;

use libloading::{Error, Library, Symbol};

static LIBRARY: Kept<Library> = Kept::new();

pub(crate) fn begin() {
    // SAFETY: the initializers of this library of the C library are sound and have no preconditions.
    LIBRARY.keep(unsafe { Library::new("libresolv.so.2") });
}

pub(crate) fn work() -> String {
    LIBRARY.work(|library| {
        // SAFETY: <resolv.h> declares this type: a number as the argument, a string as the result.
        let name: Symbol<'_, unsafe extern "C" fn(c_int) -> *const std::ffi::c_char> =
            unsafe { library.get(b"__p_rcode\0") }?;
        // SAFETY: the function accepts any number.
        let text = unsafe { name(0) };
        // SAFETY: the result is a zero-terminated string that lives as long as the library.
        Ok::<_, Error>(!unsafe { std::ffi::CStr::from_ptr(text) }.is_empty())
    })
}

pub(crate) fn end() {
    if cfg!(not(feature = "libloading-leaked")) {
        drop(LIBRARY.take());
    }
}
