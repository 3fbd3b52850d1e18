//! Thread-local variable of a kind that is only supported in libraries loaded at program start.
#![expect(unsafe_code, reason = "declares a C function")]

use std::ffi::c_int;

unsafe extern "C" {
    safe fn static_tls_use(at: c_int) -> c_int;
}

pub(crate) fn touch() {
    static_tls_use(7);
}
