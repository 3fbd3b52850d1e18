//! The C code of this plugin, and functions of the C library that make blocks for their caller to free.
#![expect(unsafe_code, reason = "calls C functions, as plugins do that wrap a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr::null_mut;

/// Counts the threads that the C code has started.
pub(crate) fn threads() -> u32 {
    interposer_threads()
}

/// Counts its blocks that are in use.
pub(crate) fn blocks() -> u32 {
    interposer_blocks()
}

/// Takes a text out of a block and frees that.
///
/// # Safety
/// The block holds a C string, and the caller owns it.
unsafe fn taken(block: *mut c_char) -> String {
    assert!(!block.is_null());
    // SAFETY: our caller promises a C string in a block of its own.
    unsafe {
        let text = CStr::from_ptr(block).to_string_lossy().into_owned();
        libc::free(block.cast());
        text
    }
}

/// The first line of a file without its end, read into a block that was there before and is too small.
pub(crate) fn line(file: &str) -> String {
    let name = CString::new(file).expect("a name without zeroes");
    // SAFETY: the names are C strings, the stream is open, and the block has so much room.
    unsafe {
        let stream = libc::fopen(name.as_ptr(), c"r".as_ptr());
        assert!(!stream.is_null(), "{file}");
        let mut room = 4;
        let mut line = libc::malloc(room).cast();
        assert!(getline(&raw mut line, &raw mut room, stream) > 0);
        libc::fclose(stream);
        taken(line).trim_end().to_owned()
    }
}

/// A copy of a text.
pub(crate) fn copy(text: &str) -> String {
    let text = CString::new(text).expect("a text without zeroes");
    // SAFETY: the copy of a C string is one, and the caller's.
    unsafe { taken(libc::strdup(text.as_ptr())) }
}

/// A number as the C library prints it.
pub(crate) fn printed(number: c_int) -> String {
    let mut text = null_mut();
    // SAFETY: the format takes one number.
    let printed = unsafe { asprintf(&raw mut text, c"%d".as_ptr(), number) };
    assert!(printed > 0);
    // SAFETY: it has left a C string there, which is the caller's.
    unsafe { taken(text) }
}

unsafe extern "C" {
    safe fn interposer_threads() -> c_uint;
    safe fn interposer_blocks() -> c_uint;
    fn getline(line: *mut *mut c_char, room: *mut usize, stream: *mut libc::FILE) -> isize;
    fn asprintf(text: *mut *mut c_char, format: *const c_char, ...) -> c_int;
}
