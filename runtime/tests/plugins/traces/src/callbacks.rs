//! A library that keeps callbacks in a table of its own, and that no host has heard of. It comes into the process before
//! everything else (`LD_PRELOAD`), as a library of the system does that somebody else needs too.
#![expect(unsafe_code, reason = "calls a C library that is found by name")]

use std::ffi::{CStr, c_void};
use std::mem::transmute;

type Callback = unsafe extern "C" fn(*mut c_void);

/// A function of the library.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!address.is_null(), "the library that stays has no {name:?}");
    address
}

/// The name that a report has to tell.
#[unsafe(no_mangle)]
unsafe extern "C" fn traces_called_back(_data: *mut c_void) {}

/// An entry in its table, which lies on the C heap.
pub(crate) fn entry() {
    // SAFETY: the function takes a callback and what it is to be called with.
    let keep =
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(Callback, *mut c_void)>(function(c"staying_keep")) };
    // SAFETY: the library calls it when it is asked to, and never by itself.
    unsafe { keep(traces_called_back, std::ptr::null_mut()) };
}

/// A variable of its own.
pub(crate) fn variable() {
    // SAFETY: the variable holds a callback.
    unsafe { function(c"staying_variable").cast::<Callback>().write(traces_called_back) };
}

/// An entry whose code is the library's and whose data is this module's.
pub(crate) fn data() {
    keep_data((&raw mut *Box::leak(Box::new([7u64; 16]))).cast());
}

/// An entry that names the module as the C library does.
pub(crate) fn handle() {
    unsafe extern "C" {
        static __dso_handle: *mut c_void;
    }
    keep_data((&raw const __dso_handle).cast_mut().cast());
}

fn keep_data(data: *mut c_void) {
    // SAFETY: the function takes the address of some data.
    let keep = unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(function(c"staying_keep_data")) };
    // SAFETY: the library looks behind it when it is asked to, and never by itself.
    unsafe { keep(data) };
}

pub(crate) fn clear() {
    // SAFETY: the function takes nothing.
    let clear = unsafe { transmute::<*mut c_void, unsafe extern "C" fn()>(function(c"staying_clear")) };
    // SAFETY: nobody else uses the table now.
    unsafe { clear() };
}
