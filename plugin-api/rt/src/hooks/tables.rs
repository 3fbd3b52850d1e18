//! Hooks of functions that store an address of the module in a table or a variable of a different library: unwind tables, streams and their
//! buffers.

use core::ffi::{c_char, c_int, c_void};

use super::notes::{frame_is_there, stream_closed};

/// Functions of an `fopencookie` stream, in the layout of the C library. Each function is optional.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StreamFunctions {
    /// Reads from the stream.
    pub read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    /// Writes to the stream.
    pub write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    /// Changes the position in the stream.
    pub seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    /// Closes the stream.
    pub close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

around! {
    __deregister_frame(begin: *const c_void), |call| if frame_is_there(begin) != 0 {
        call();
    };
    pclose(stream: *mut c_void) -> c_int, |call| {
        stream_closed(stream);
        call()
    };
    closedir(folder: *mut c_void) -> c_int, |call| {
        stream_closed(folder);
        call()
    };
}
