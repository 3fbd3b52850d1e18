//! C library streams that are never closed, and blocks that the C library allocates for this module.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

fn release() -> CString {
    CString::new(std::env::var("ALARMS_RELEASE").expect("the test sets the path")).expect("no zero byte")
}

/// Opens one stream of each kind. One of these streams has unflushed output.
pub(crate) fn leave() {
    let name = release();
    // SAFETY: both arguments are C strings.
    let file = unsafe { libc::fopen(name.as_ptr(), c"w".as_ptr()) };
    assert!(!file.is_null());
    // SAFETY: the arguments are a C string and an open stream.
    assert!(unsafe { libc::fputs(c"not written yet".as_ptr(), file) } >= 0);
    // SAFETY: the first argument is a C string.
    let fd = unsafe { libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    // SAFETY: `open` has opened the descriptor, and the mode is a C string.
    assert!(!unsafe { libc::fdopen(fd, c"r".as_ptr()) }.is_null());
    // SAFETY: the argument is a C string.
    assert!(!unsafe { libc::opendir(c"/proc/self".as_ptr()) }.is_null());
    // SAFETY: both arguments are C strings.
    assert!(!unsafe { libc::popen(c"true".as_ptr(), c"r".as_ptr()) }.is_null());
}

/// Opens one stream of each kind, and closes all of them.
pub(crate) fn close() {
    // SAFETY: both arguments are C strings.
    let file = unsafe { libc::fopen(c"/proc/self/stat".as_ptr(), c"r".as_ptr()) };
    // SAFETY: `fopen` has opened the stream.
    assert_eq!(unsafe { libc::fclose(file) }, 0);
    // SAFETY: the argument is a C string.
    let folder = unsafe { libc::opendir(c"/proc/self".as_ptr()) };
    // SAFETY: `opendir` has opened the folder.
    assert_eq!(unsafe { libc::closedir(folder) }, 0);
    // SAFETY: both arguments are C strings.
    let process = unsafe { libc::popen(c"true".as_ptr(), c"r".as_ptr()) };
    // SAFETY: `popen` has opened the stream.
    assert_eq!(unsafe { libc::pclose(process) }, 0);
}

/// Allocates two blocks of each kind, and frees one of the two. Writes the number of remaining blocks to the file in `ALARMS_RELEASE`.
pub(crate) fn blocks() {
    let mut left = 0;
    for make in [duplicate, duplicate_some, duplicate_wide, resolve, folder, line, long_line, print, memory] {
        let [freed, kept] = [make(), make()];
        assert!(!freed.is_null() && !kept.is_null());
        // SAFETY: the block has no other owner.
        unsafe { libc::free(freed) };
        left += 1;
    }
    let name = std::env::var_os("ALARMS_RELEASE").expect("the test sets the path");
    std::fs::write(name, left.to_string()).expect("the file is writable");
}

fn duplicate() -> *mut c_void {
    // SAFETY: the argument is a C string.
    unsafe { libc::strdup(c"a text".as_ptr()) }.cast()
}

fn duplicate_some() -> *mut c_void {
    // SAFETY: the first argument is a C string.
    let block = unsafe { libc::strndup(c"a text".as_ptr(), 3) };
    // SAFETY: the pointer refers to a C string.
    assert_eq!(unsafe { CStr::from_ptr(block) }, c"a t");
    block.cast()
}

fn duplicate_wide() -> *mut c_void {
    // SAFETY: the argument is a string of wide characters that ends with zero.
    unsafe { wcsdup([c_int::from(b'a'), 0].as_ptr()) }.cast()
}

fn resolve() -> *mut c_void {
    // SAFETY: a C string, and a null buffer for the result.
    unsafe { libc::realpath(c"/proc/.".as_ptr(), null_mut()) }.cast()
}

fn folder() -> *mut c_void {
    // SAFETY: a null buffer for the result.
    unsafe { libc::getcwd(null_mut(), 0) }.cast()
}

/// Reads a line that is longer than the block passed for it.
fn line_with(read: impl FnOnce(*mut *mut c_char, *mut usize, *mut libc::FILE) -> isize) -> *mut c_void {
    // SAFETY: both arguments are C strings.
    let file = unsafe { libc::fopen(c"/proc/self/stat".as_ptr(), c"r".as_ptr()) };
    assert!(!file.is_null());
    let mut room = 4;
    // SAFETY: `malloc` accepts any size.
    let mut line = unsafe { libc::malloc(room) }.cast();
    assert!(read(&raw mut line, &raw mut room, file) > 4);
    // SAFETY: the stream is open and has no other owner.
    unsafe { libc::fclose(file) };
    line.cast()
}

fn line() -> *mut c_void {
    // SAFETY: `line` is a block of the C heap of size `room`.
    line_with(|line, room, file| unsafe { libc::getline(line, room, file) })
}

fn long_line() -> *mut c_void {
    // SAFETY: `line` is a block of the C heap of size `room`.
    line_with(|line, room, file| unsafe { getdelim(line, room, c_int::from(b'\n'), file) })
}

fn print() -> *mut c_void {
    let mut text = null_mut();
    // SAFETY: `text` is valid for a pointer; the arguments match the format, and some are not passed in registers.
    let len = unsafe {
        asprintf(&raw mut text, c"%d %d %d %.1f %s %d %d".as_ptr(), 1, 2, 3, 4.5_f64, c"five".as_ptr(), 6, 7)
    };
    // SAFETY: the pointer refers to a C string.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"1 2 3 4.5 five 6 7");
    assert_eq!(len, 18);
    text.cast()
}

fn memory() -> *mut c_void {
    let (mut text, mut len) = (null_mut(), 0);
    // SAFETY: both variables are valid until the stream is closed.
    let stream = unsafe { open_memstream(&raw mut text, &raw mut len) }.cast::<libc::FILE>();
    assert!(!stream.is_null());
    // SAFETY: the arguments are a C string and an open stream.
    assert!(unsafe { libc::fputs(c"a text".as_ptr(), stream) } >= 0);
    // SAFETY: the stream is open and has no other owner.
    assert_eq!(unsafe { libc::fclose(stream) }, 0);
    text.cast()
}

unsafe extern "C" {
    fn asprintf(text: *mut *mut c_char, format: *const c_char, ...) -> c_int;
    fn getdelim(line: *mut *mut c_char, room: *mut usize, end: c_int, file: *mut libc::FILE) -> isize;
    fn open_memstream(text: *mut *mut c_char, len: *mut usize) -> *mut c_void;
    fn wcsdup(text: *const c_int) -> *mut c_int;
}
