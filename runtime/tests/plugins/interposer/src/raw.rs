//! Bindings to this plugin's C code. Also bindings to C library functions that allocate blocks for their caller.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint};
use std::ptr::null_mut;

/// Returns the number of threads that were started through the C code.
pub(crate) fn threads() -> u32 {
    interposer_threads()
}

/// Returns the number of live blocks.
pub(crate) fn blocks() -> u32 {
    interposer_blocks()
}

/// Copies a string from a block, and frees the block.
///
/// # Safety
/// `block` is null or holds a C string, and the caller owns the block.
unsafe fn take_string(block: *mut c_char) -> String {
    assert!(!block.is_null());
    // SAFETY: the caller promises a C string in an owned block.
    unsafe {
        let text = CStr::from_ptr(block).to_string_lossy().into_owned();
        libc::free(block.cast());
        text
    }
}

/// Returns the first line of a file without its line end. Reads the line into an existing block that is too small, so the block grows. The C
/// library must reject a call without a variable for the size of the block.
pub(crate) fn line(file: &str) -> String {
    let name = CString::new(file).expect("the name has no zero byte");
    // SAFETY: the names are C strings, the stream is open, and the block has size `capacity`.
    unsafe {
        let stream = libc::fopen(name.as_ptr(), c"r".as_ptr());
        assert!(!stream.is_null(), "{file}");
        let mut capacity = 4;
        let mut line = libc::malloc(capacity).cast();
        assert_eq!(getline(&raw mut line, null_mut(), stream), -1);
        assert!(getline(&raw mut line, &raw mut capacity, stream) > 0);
        libc::fclose(stream);
        take_string(line).trim_end().to_owned()
    }
}

pub(crate) fn copy(text: &str) -> String {
    let text = CString::new(text).expect("the string has no zero byte");
    // SAFETY: `strdup` returns an owned C string.
    unsafe { take_string(libc::strdup(text.as_ptr())) }
}

/// Formats a number with the C library.
pub(crate) fn printed(number: c_int) -> String {
    let mut text = null_mut();
    // SAFETY: the format has one number.
    let printed = unsafe { asprintf(&raw mut text, c"%d".as_ptr(), number) };
    assert!(printed > 0);
    // SAFETY: `asprintf` has stored an owned C string.
    unsafe { take_string(text) }
}

/// Writes a string to a stream in memory, and returns the content of the closed stream.
pub(crate) fn in_memory(text: &str) -> String {
    let text = CString::new(text).expect("the string has no zero byte");
    let (mut content, mut len) = (null_mut(), 0);
    // SAFETY: both variables are valid until the stream is closed. `fputs` receives a C string and an open stream. `fclose` has stored an
    // owned C string.
    unsafe {
        let stream = open_memstream(&raw mut content, &raw mut len);
        assert!(!stream.is_null());
        assert!(libc::fputs(text.as_ptr(), stream) >= 0);
        assert_eq!(libc::fclose(stream), 0);
        take_string(content)
    }
}

unsafe extern "C" {
    safe fn interposer_threads() -> c_uint;
    safe fn interposer_blocks() -> c_uint;
    fn getline(line: *mut *mut c_char, capacity: *mut usize, stream: *mut libc::FILE) -> isize;
    fn asprintf(text: *mut *mut c_char, format: *const c_char, ...) -> c_int;
    fn open_memstream(content: *mut *mut c_char, len: *mut usize) -> *mut libc::FILE;
}
