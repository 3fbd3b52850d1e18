//! Callbacks that this plugin stores in the table of a library. No host has built-in support for this library. The library is loaded before
//! all other libraries (`LD_PRELOAD`), like a system library with other users.
#![expect(unsafe_code, reason = "calls a C library that is found by name")]

use std::ffi::{CStr, c_void};
use std::mem::transmute;

type Callback = unsafe extern "C" fn(*mut c_void);

/// Returns the address of a symbol in the permanent library.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!address.is_null(), "the permanent library has no {name:?}");
    address
}

/// Callback whose symbol a report must contain.
#[unsafe(no_mangle)]
unsafe extern "C" fn traces_called_back(_data: *mut c_void) {}

/// Leaves a callback in the library's table on the C heap.
pub(crate) fn entry() {
    // SAFETY: the function takes a callback and its argument.
    let keep =
        unsafe { transmute::<*mut c_void, unsafe extern "C" fn(Callback, *mut c_void)>(function(c"staying_keep")) };
    // SAFETY: the library calls the callback only when a test requests it.
    unsafe { keep(traces_called_back, std::ptr::null_mut()) };
}

/// Leaves a callback in a variable of the library.
pub(crate) fn variable() {
    // SAFETY: the variable holds a callback.
    unsafe { function(c"staying_variable").cast::<Callback>().write(traces_called_back) };
}

/// Leaves an entry in the library's table. The entry calls code in the library, with data in this module.
pub(crate) fn data() {
    keep_data((&raw mut *Box::leak(Box::new([7u64; 16]))).cast());
}

/// Leaves an entry that contains the module's `__dso_handle`. The C library identifies modules by this address.
pub(crate) fn handle() {
    unsafe extern "C" {
        static __dso_handle: *mut c_void;
    }
    keep_data((&raw const __dso_handle).cast_mut().cast());
}

fn keep_data(data: *mut c_void) {
    // SAFETY: the function takes a data address.
    let keep = unsafe { transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(function(c"staying_keep_data")) };
    // SAFETY: the library reads the data only when a test calls it.
    unsafe { keep(data) };
}

pub(crate) fn clear() {
    // SAFETY: the function has no parameters.
    let clear = unsafe { transmute::<*mut c_void, unsafe extern "C" fn()>(function(c"staying_clear")) };
    // SAFETY: no other code uses the table now.
    unsafe { clear() };
}
