//! What the hooks of a module say to its host. Without a host they say nothing.
#![expect(unsafe_code, reason = "calls functions of the host's table")]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null;

use crate::slot::context;

/// Calls a function of the host's table, or answers without a host.
macro_rules! tell {
    ($entry:ident($($argument:expr),*), or $without:expr) => {
        match context() {
            // SAFETY: the image is that of the same context. Numbers may be any, and the host only compares addresses, but
            // for those of blocks and streams, of which `Made` promises that they are alive, and of Rust references.
            Some(context) => unsafe { (context.table.$entry)(context.image, $($argument),*) },
            None => $without,
        }
    };
}

/// What a function of the C library has made for the module just now, or null.
#[derive(Clone, Copy)]
pub(super) struct Made(*mut c_void);

impl Made {
    /// # Safety
    /// It is null, or a block or a stream that was made just now, for the module to free or close.
    pub(super) const unsafe fn new<T>(made: *mut T) -> Self {
        Self(made.cast())
    }

    /// Its address.
    pub(super) const fn get<T>(self) -> *mut T {
        self.0.cast()
    }
}

/// The C library has made this block. A sanitizer keeps its own books, and the host does not hear of what is freed.
pub(super) fn block_made(block: Made) {
    if !cfg!(feature = "pass-through") && !block.0.is_null() {
        tell!(block_made(block.0), or());
    }
}

/// The platform is about to move this block, or to free it. Whether the host knows it as one of a module's.
pub(super) fn block_lent<T>(block: *mut T) -> bool {
    tell!(block_lent(block.cast()), or 0) != 0
}

/// A stream writes into memory of the module; numbers as [`alcedo_abi::hooks::HookTable::stream_bound`] has them.
pub(super) fn stream_bound(stream: Made, made_by: c_int, place: *const *mut c_void) {
    if !stream.0.is_null() {
        tell!(stream_bound(stream.0, made_by, place), or());
    }
}

/// A stream has this descriptor; numbers as [`alcedo_abi::hooks::HookTable::stream_opened`] has them.
pub(super) fn stream_opened(stream: Made, fd: c_int, made_by: c_int) {
    if !stream.0.is_null() {
        tell!(stream_opened(stream.0, fd, made_by), or());
    }
}

/// A stream or a folder is about to be closed. The place where the address of a block will be then; null if there is none.
pub(super) fn stream_closed(stream: *mut c_void) -> *const *mut c_void {
    tell!(stream_closed(stream), or null())
}

/// A descriptor was made, unless the number is that of an error.
pub(super) fn opened(fd: c_int) {
    if fd >= 0 {
        tell!(fd_opened(fd), or());
    }
}

/// The module does not hold the descriptor any longer, or not as a descriptor.
pub(super) fn closed(fd: c_int) {
    tell!(fd_closed(fd), or());
}

/// The module has changed whom the descriptor tells, and how, unless the result is that of an error.
pub(super) fn signals_changed(fd: c_int, result: c_int) {
    if result >= 0 {
        tell!(fd_signals(fd), or());
    }
}

/// The module has a new child, unless it is the child that says so or there is none.
pub(super) extern "C" fn child_started(pid: c_int) -> c_int {
    if pid > 0 {
        tell!(child_started(pid), or());
    }
    pid
}

/// The unwinder is about to take a table back. Whether it still has it.
pub(super) fn frame_is_there(begin: *const c_void) -> bool {
    tell!(frame_deregistered(begin), or 1) != 0
}

/// The name of this thread, in full.
pub(super) fn thread_named(name: &[u8]) {
    tell!(thread_named(name.as_ptr(), name.len()), or());
}

/// The module is being closed, and may not call this function.
pub(super) fn refuses(function: &CStr) -> bool {
    tell!(refuses(function.as_ptr()), or 0) != 0
}

/// `dlsym` has found this address for the module.
pub(super) fn looked_up(found: *const c_void) {
    tell!(looked_up(found), or());
}
