//! Passes addresses in this module to functions of the C library that store the addresses.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

#[repr(C)]
struct StreamFunctions {
    read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    static mut program_invocation_name: *mut c_char;
    static mut stdout: *mut libc::FILE;
    #[link_name = "initstate"]
    fn c_initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char;
    fn random() -> std::ffi::c_long;
    #[link_name = "fopencookie"]
    fn c_fopencookie(cookie: *mut c_void, mode: *const c_char, functions: StreamFunctions) -> *mut libc::FILE;
    fn open_memstream(bytes: *mut *mut c_char, len: *mut usize) -> *mut libc::FILE;
}

/// Returns a leaked C string in memory of this module.
fn own(text: &str) -> *mut c_char {
    CString::new(text).expect("no zero byte").into_raw()
}

pub(crate) fn putenv() {
    // SAFETY: a C string that remains valid as long as this module is loaded.
    assert_eq!(unsafe { libc::putenv(own("TRACES_PUT=put by a plugin")) }, 0);
}

/// Replaces `environ` by a copy that contains one more string.
pub(crate) fn row_of_the_environment() {
    let mut row = Vec::new();
    // SAFETY: no other thread of this process changes the environment now.
    let mut entry = unsafe { environ };
    // SAFETY: the array ends with null.
    while let Some(text) = unsafe { entry.as_ref() }.filter(|text| !text.is_null()) {
        row.push(*text);
        entry = entry.wrapping_add(1);
    }
    row.push(own("TRACES_PUT=put by a plugin"));
    row.push(null_mut());
    // SAFETY: no other thread of this process changes the environment now; the array remains valid as long as this module is loaded.
    unsafe { environ = row.leak().as_mut_ptr() };
}

pub(crate) fn check_environment() -> String {
    // SAFETY: the name is a C string.
    let value = unsafe { libc::getenv(c"TRACES_PUT".as_ptr()) };
    // SAFETY: `getenv` returns null or a C string.
    if value.is_null() { String::new() } else { unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned() }
}

pub(crate) fn openlog() {
    // SAFETY: a C string that remains valid as long as this module is loaded.
    unsafe { libc::openlog(own("a-plugin-that-logs"), libc::LOG_PERROR, libc::LOG_USER) };
}

pub(crate) fn check_log() -> String {
    // SAFETY: a format without arguments.
    unsafe { libc::syslog(libc::LOG_DEBUG, c"said after the reload".as_ptr()) };
    "logged".to_owned()
}

pub(crate) fn setvbuf() {
    let buffer: &'static mut [c_char] = vec![0; 4096].leak();
    // SAFETY: the stream is open, and the buffer remains valid as long as this module is loaded.
    let refused = unsafe { libc::setvbuf(stdout, buffer.as_mut_ptr(), libc::_IOFBF, buffer.len()) };
    assert_eq!(refused, 0);
    // SAFETY: two C strings for an open stream.
    unsafe { libc::fputs(c"written before the reload\n".as_ptr(), stdout) };
}

pub(crate) fn check_streams() -> String {
    // SAFETY: two C strings for an open stream.
    unsafe { libc::fputs(c"written after the reload\n".as_ptr(), stdout) };
    // SAFETY: null flushes all streams.
    let refused = unsafe { libc::fflush(null_mut()) };
    if refused == 0 { "flushed".to_owned() } else { "not flushed".to_owned() }
}

pub(crate) fn initstate() {
    let state: &'static mut [u64] = vec![0; 16].leak();
    // SAFETY: the state remains valid as long as this module is loaded.
    let before = unsafe { c_initstate(1, state.as_mut_ptr().cast(), 128) };
    assert!(!before.is_null());
    // SAFETY: the function has no arguments.
    let first = unsafe { random() };
    assert_eq!(first, 1_804_289_383, "the first number of this sequence");
}

/// Returns the next random number of the C library. The previous generation has set the state of this generator.
pub(crate) fn check_random() -> String {
    // SAFETY: the function has no arguments.
    unsafe { random() }.to_string()
}

pub(crate) fn name_of_the_program() {
    // SAFETY: no other thread of this process reads the variable now.
    unsafe { program_invocation_name = own("a name of a plugin's") };
}

pub(crate) fn check_program_name() -> String {
    // SAFETY: the variable is a C string.
    let name = unsafe { CStr::from_ptr(program_invocation_name) };
    if name.is_empty() { "no name".to_owned() } else { "a name".to_owned() }
}

unsafe extern "C" fn write(_cookie: *mut c_void, bytes: *const c_char, len: usize) -> isize {
    // SAFETY: the stream passes `len` valid bytes.
    let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), len) };
    eprintln!("through a stream of a plugin: {}", String::from_utf8_lossy(bytes).trim_end());
    len.cast_signed()
}

unsafe extern "C" fn close(_cookie: *mut c_void) -> c_int {
    eprintln!("a stream of a plugin was closed");
    0
}

fn stream() -> *mut libc::FILE {
    let functions = StreamFunctions { read: None, write: Some(write), seek: None, close: Some(close) };
    // SAFETY: the functions do not use the cookie.
    let stream = unsafe { c_fopencookie(null_mut(), c"w".as_ptr(), functions) };
    assert!(!stream.is_null());
    // SAFETY: a C string and an open stream; the output remains in the buffer.
    unsafe { libc::fputs(c"in the buffer".as_ptr(), stream) };
    stream
}

pub(crate) fn fopencookie() {
    stream();
}

pub(crate) fn fopencookie_as_stdout() {
    let stream = stream();
    // SAFETY: no other thread of this process writes the variable now.
    unsafe { stdout = stream };
}

pub(crate) fn fopencookie_closed() {
    // SAFETY: opened by `stream`.
    unsafe { libc::fclose(stream()) };
}

fn memory() -> *mut libc::FILE {
    let (bytes, len) = (Box::leak(Box::new(null_mut())), Box::leak(Box::new(0)));
    // SAFETY: both locations remain valid as long as this module is loaded.
    let stream = unsafe { open_memstream(bytes, len) };
    assert!(!stream.is_null());
    // SAFETY: a C string for an open stream.
    unsafe { libc::fputs(c"in memory".as_ptr(), stream) };
    stream
}

pub(crate) fn memory_stream() {
    memory();
}

pub(crate) fn memory_stream_closed() {
    // SAFETY: opened by `memory`.
    unsafe { libc::fclose(memory()) };
}
