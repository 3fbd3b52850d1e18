//! Hooks of what puts an address of the module into a table or a variable of a library that stays: unwind tables, streams
//! and their buffers, the name for the system's log, the state of `random`. Streams with a descriptor are told as well.
#![expect(unsafe_code, reason = "C functions, handed over to the host or the platform")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::{null, null_mut};

use super::blocks::made;
use super::closing::is_refused;
use super::platform;
use crate::outside::hook_context;

/// The functions of a stream of `fopencookie`, as the C library lays them out; each may be missing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StreamFunctions {
    /// Reads.
    pub read: Option<unsafe extern "C" fn(*mut c_void, *mut c_char, usize) -> isize>,
    /// Writes.
    pub write: Option<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> isize>,
    /// Moves.
    pub seek: Option<unsafe extern "C" fn(*mut c_void, *mut i64, c_int) -> c_int>,
    /// Ends.
    pub close: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// `__register_frame` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn register_frame(begin: *const c_void) {
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::__register_frame(begin) };
    if let (Some(context), Some(deregister)) = (hook_context(), platform::deregister()) {
        // SAFETY: the image is that of the same context, and the unwinder that has the table is the one that gives it back.
        unsafe { (context.table.frame_registered)(context.image, begin, deregister) };
    }
}

/// `__deregister_frame` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn deregister_frame(begin: *const c_void) {
    let is_there = hook_context().is_none_or(|context| {
        // SAFETY: the image is that of the same context; any address will do.
        unsafe { (context.table.frame_deregistered)(context.image, begin) != 0 }
    });
    if is_there {
        // SAFETY: our caller keeps to the C function's contract, and nobody has taken the table back for it.
        unsafe { platform::__deregister_frame(begin) };
    }
}

/// `fopencookie` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fopencookie(
    cookie: *mut c_void,
    mode: *const c_char,
    functions: StreamFunctions,
) -> *mut c_void {
    match hook_context() {
        // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
        Some(context) => unsafe {
            (context.table.stream_open)(context.image, cookie, mode, (&raw const functions).cast())
        },
        // SAFETY: our caller keeps to the C function's contract.
        None => unsafe { platform::fopencookie(cookie, mode, functions) },
    }
}

/// A stream that writes into memory of the module has been made, unless it is null.
fn bound(stream: *mut c_void, made_by: c_int, place: *const *mut c_void) -> *mut c_void {
    if let Some(context) = hook_context().filter(|_| !stream.is_null()) {
        // SAFETY: the image is that of the same context, and the stream was made just now.
        unsafe { (context.table.stream_bound)(context.image, stream, made_by, place) };
    }
    stream
}

/// A stream that has this descriptor has been made, unless it is null.
pub(super) fn opened_stream(stream: *mut c_void, fd: c_int, made_by: c_int) -> *mut c_void {
    if let Some(context) = hook_context().filter(|_| !stream.is_null()) {
        // SAFETY: the image is that of the same context, and the stream was made just now.
        unsafe { (context.table.stream_opened)(context.image, stream, fd, made_by) };
    }
    stream
}

/// The same for a stream that has opened its descriptor itself.
fn opened_file(stream: *mut c_void, made_by: c_int) -> *mut c_void {
    // SAFETY: a stream that was made just now.
    let fd = if stream.is_null() { -1 } else { unsafe { libc::fileno(stream.cast()) } };
    opened_stream(stream, fd, made_by)
}

/// A stream or a folder is about to be closed. The place where the address of a block will be then; null if there is none.
fn closing(stream: *mut c_void) -> *const *mut c_void {
    match hook_context() {
        // SAFETY: the image is that of the same context; any stream will do.
        Some(context) => unsafe { (context.table.stream_closed)(context.image, stream) },
        None => null(),
    }
}

/// `fopen` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    opened_file(unsafe { platform::fopen(path, mode) }, 0)
}

/// `tmpfile` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn tmpfile() -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    opened_file(unsafe { platform::tmpfile() }, 2)
}

/// `popen` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    opened_file(unsafe { platform::popen(command, mode) }, 3)
}

/// `pclose` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn pclose(stream: *mut c_void) -> c_int {
    closing(stream);
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::pclose(stream) }
}

/// `opendir` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut c_void {
    // SAFETY: our caller keeps to the C function's contract.
    let folder = unsafe { platform::opendir(path) };
    // SAFETY: a folder that was opened just now.
    let fd = if folder.is_null() { -1 } else { unsafe { libc::dirfd(folder.cast()) } };
    opened_stream(folder, fd, 4)
}

/// `closedir` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn closedir(folder: *mut c_void) -> c_int {
    closing(folder);
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::closedir(folder) }
}

/// `open_memstream` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn open_memstream(bytes: *mut *mut c_char, len: *mut usize) -> *mut c_void {
    if is_refused(c"open_memstream") {
        return null_mut();
    }
    // SAFETY: our caller keeps to the C function's contract.
    bound(unsafe { platform::open_memstream(bytes, len) }, 0, bytes.cast_const().cast())
}

/// `open_wmemstream` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn open_wmemstream(text: *mut *mut c_int, len: *mut usize) -> *mut c_void {
    if is_refused(c"open_wmemstream") {
        return null_mut();
    }
    // SAFETY: our caller keeps to the C function's contract.
    bound(unsafe { platform::open_wmemstream(text, len) }, 1, text.cast_const().cast())
}

/// `fmemopen` of this module. Without a buffer of the caller's, the stream has one of its own.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fmemopen(buffer: *mut c_void, len: usize, mode: *const c_char) -> *mut c_void {
    if !buffer.is_null() && is_refused(c"fmemopen") {
        return null_mut();
    }
    // SAFETY: our caller keeps to the C function's contract.
    let stream = unsafe { platform::fmemopen(buffer, len, mode) };
    if buffer.is_null() { stream } else { bound(stream, 2, null()) }
}

/// `fclose` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fclose(stream: *mut c_void) -> c_int {
    let place = closing(stream);
    // SAFETY: our caller keeps to the C function's contract.
    let result = unsafe { platform::fclose(stream) };
    // SAFETY: the stream has written it as it was closed, and whoever made the stream keeps the place until then.
    made(unsafe { place.as_ref() }.map_or(null_mut(), |block| *block));
    result
}

/// `setvbuf` of this module. A stream may outlive the module, and the end of the process looks into its buffer; so it gets
/// one of its own. The size is a wish, says the C library.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, len: usize) -> c_int {
    let buffer = if hook_context().is_some() { null_mut() } else { buffer };
    // SAFETY: our caller keeps to the C function's contract, and no buffer is fine with it too.
    unsafe { platform::setvbuf(stream, buffer, mode, len) }
}

/// `setbuffer` of this module, as [`setvbuf`].
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setbuffer(stream: *mut c_void, buffer: *mut c_char, len: usize) {
    if buffer.is_null() || hook_context().is_none() {
        // SAFETY: our caller keeps to the C function's contract.
        unsafe { platform::setbuffer(stream, buffer, len) };
    } else {
        // SAFETY: our caller promises an open stream.
        unsafe { platform::setvbuf(stream, null_mut(), libc::_IOFBF, len) };
    }
}

/// `setbuf` of this module, as [`setvbuf`].
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setbuf(stream: *mut c_void, buffer: *mut c_char) {
    // SAFETY: our caller keeps to the C function's contract; this is what that function does.
    unsafe { setbuffer(stream, buffer, libc::BUFSIZ as usize) };
}

/// `openlog` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn openlog(ident: *const c_char, option: c_int, facility: c_int) {
    match hook_context() {
        // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
        Some(context) => unsafe { (context.table.log_open)(context.image, ident, option, facility) },
        // SAFETY: our caller keeps to the C function's contract.
        None => unsafe { platform::openlog(ident, option, facility) },
    }
}

/// `initstate` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char {
    match hook_context() {
        // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
        Some(context) => unsafe { (context.table.random_init)(context.image, seed, state, size) },
        // SAFETY: our caller keeps to the C function's contract.
        None => unsafe { platform::initstate(seed, state, size) },
    }
}

/// `setstate` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setstate(state: *mut c_char) -> *mut c_char {
    match hook_context() {
        // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
        Some(context) => unsafe { (context.table.random_set)(context.image, state) },
        // SAFETY: our caller keeps to the C function's contract.
        None => unsafe { platform::setstate(state) },
    }
}
