//! Hooks of what puts an address of the module into a table or a variable of a library that stays: unwind tables, streams
//! and their buffers, the name for the system's log, the state of `random`. Streams with a descriptor are told as well.
#![expect(unsafe_code, reason = "C functions, handed over to the host or the platform")]

use core::ffi::{c_char, c_int, c_uint, c_void};
use core::ptr::{null, null_mut};

use super::closing::is_refused;
use super::notes::{self, Made, block_made, stream_bound, stream_closed, stream_opened};
use super::platform;
use crate::slot::context;

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
    // SAFETY: our caller keeps to the C function's contract; the image is that of the same context, and the unwinder that has the
    // table is the one that gives it back.
    unsafe {
        platform::__register_frame(begin);
        if let (Some(context), Some(deregister)) = (context(), platform::deregister()) {
            (context.table.frame_registered)(context.image, begin, deregister);
        }
    }
}

/// `__deregister_frame` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn deregister_frame(begin: *const c_void) {
    if notes::frame_is_there(begin) {
        // SAFETY: our caller keeps to the C function's contract, and the table has not been taken back for it.
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
    // SAFETY: our caller keeps to the C function's contract, and the image is that of the same context.
    unsafe {
        match context() {
            Some(context) => (context.table.stream_open)(context.image, cookie, mode, (&raw const functions).cast()),
            None => platform::fopencookie(cookie, mode, functions),
        }
    }
}

/// The descriptor that a stream has opened itself.
fn descriptor(stream: Made) -> c_int {
    // SAFETY: the stream is null or was made just now, says its type.
    if stream.get::<c_void>().is_null() { -1 } else { unsafe { libc::fileno(stream.get()) } }
}

/// The same for a folder.
fn descriptor_of_folder(folder: Made) -> c_int {
    // SAFETY: the folder is null or was opened just now, says its type.
    if folder.get::<c_void>().is_null() { -1 } else { unsafe { libc::dirfd(folder.get()) } }
}

makers! {
    fopen(path: *const c_char, mode: *const c_char) -> *mut c_void,
        then |stream| stream_opened(stream, descriptor(stream), 0);
    tmpfile() -> *mut c_void, then |stream| stream_opened(stream, descriptor(stream), 2);
    popen(command: *const c_char, mode: *const c_char) -> *mut c_void,
        then |stream| stream_opened(stream, descriptor(stream), 3);
    opendir(path: *const c_char) -> *mut c_void, then |folder| stream_opened(folder, descriptor_of_folder(folder), 4);
    open_memstream(bytes: *mut *mut c_char, len: *mut usize) -> *mut c_void,
        first { if is_refused(c"open_memstream") { return null_mut(); } },
        then |stream| stream_bound(stream, 0, bytes.cast_const().cast());
    open_wmemstream(text: *mut *mut c_int, len: *mut usize) -> *mut c_void,
        first { if is_refused(c"open_wmemstream") { return null_mut(); } },
        then |stream| stream_bound(stream, 1, text.cast_const().cast());
    /// Without a buffer of the caller's, the stream has one of its own.
    fmemopen(buffer: *mut c_void, len: usize, mode: *const c_char) -> *mut c_void,
        first { if !buffer.is_null() && is_refused(c"fmemopen") { return null_mut(); } },
        then |stream| if !buffer.is_null() { stream_bound(stream, 2, null()) };
}

/// The buffer that a stream gets. A stream may outlive the module, and the end of the process looks into its buffer; so with a
/// host it gets one of its own. The C library is free to choose another size.
fn buffer_of(wanted: *mut c_char) -> *mut c_char {
    if context().is_some() { null_mut() } else { wanted }
}

platform_hooks! {
    pclose(stream: *mut c_void) -> c_int, first { stream_closed(stream); };
    closedir(folder: *mut c_void) -> c_int, first { stream_closed(folder); };
    /// The buffer is [`buffer_of`] that of the caller.
    setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, len: usize) -> c_int,
        first { let buffer = buffer_of(buffer); };
}

/// `fclose` of this module.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn fclose(stream: *mut c_void) -> c_int {
    let place = stream_closed(stream);
    // SAFETY: our caller keeps to the C function's contract. The stream writes the address of a block as it is closed, and the
    // place was given by the maker of the stream, who keeps it until then.
    let (result, block) = unsafe {
        let result = platform::fclose(stream);
        (result, Made::new(place.as_ref().map_or(null_mut(), |block| *block)))
    };
    block_made(block);
    result
}

/// `setbuffer` of this module, as [`setvbuf`].
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn setbuffer(stream: *mut c_void, buffer: *mut c_char, len: usize) {
    // SAFETY: our caller keeps to the C function's contract, and no buffer is fine with either function.
    unsafe {
        if buffer.is_null() || context().is_none() {
            platform::setbuffer(stream, buffer, len);
        } else {
            platform::setvbuf(stream, null_mut(), libc::_IOFBF, len);
        }
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

hooks! {
    openlog, openlog(ident: *const c_char, option: c_int, facility: c_int) => log_open;
    initstate, initstate(seed: c_uint, state: *mut c_char, size: usize) -> *mut c_char => random_init;
    setstate, setstate(state: *mut c_char) -> *mut c_char => random_set;
}
