//! What the hooks of a module say to its host. Without a host they say nothing.
#![expect(unsafe_code, reason = "calls functions of the host's table")]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null;

use alcedo_abi::hooks::Deregister;

use crate::outside::hook_context;

/// Calls functions of the host's table, and answers without a host, or where the condition does not hold. A function that is
/// not `unsafe` may be called with any number and any address: the host looks them up among those that it has on record.
macro_rules! notes {
    ($(
        $(#[doc = $doc:tt])*
        $([$safety:ident])? fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, if $condition:expr)?
            => $entry:ident($($given:expr),*) $(, or $without:expr)?;
    )*) => {$(
        $(#[doc = $doc])*
        pub(super) $($safety)? fn $name($($arg: $ty),*) $(-> $ret)? {
            match hook_context() {
                // SAFETY: the image is that of the same context. A text is lent for the call. The host promises to follow no
                // address that it does not have on record, but for what our caller promises where the function is `unsafe`.
                Some(context) $(if $condition)? => unsafe { (context.table.$entry)(context.image, $($given),*) },
                _ => ($($without)?),
            }
        }
    )*};
}

notes! {
    /// The module does not hold the descriptor any longer, or not as a descriptor.
    fn closed(fd: c_int) => fd_closed(fd);
    /// The module has changed whom the descriptor tells, and how, unless the result is that of an error.
    fn signals_changed(fd: c_int, result: c_int), if result >= 0 => fd_signals(fd);
    /// The name of this thread, in full.
    fn thread_named(name: &[u8]) => thread_named(name.as_ptr(), name.len());
    /// `dlsym` has found this address for the module.
    fn looked_up(found: *const c_void) => looked_up(found);
    /// The module is being closed, and may not call this function: then not zero.
    fn refuses(function: &CStr) -> c_int => refuses(function.as_ptr()), or 0;
    /// The platform is about to move this block, or to free it. Whether the host knows it as one of a module's: not zero.
    fn block_lent(block: *mut c_void) -> c_int => block_lent(block), or 0;
    /// The unwinder is about to take a table back. Whether it still has it: not zero.
    fn frame_is_there(begin: *const c_void) -> c_int => frame_deregistered(begin), or 1;
    /// A stream or a folder is about to be closed. The place where the address of a block will be then; null if there is none.
    fn stream_closed(stream: *mut c_void) -> *const *mut c_void => stream_closed(stream), or null();
    /// The module has a new child, unless it is the child that says so or there is none.
    fn child_started(pid: c_int), if pid > 0 => child_started(pid);

    /// A descriptor was made, unless the number is that of an error.
    ///
    /// # Safety
    /// The platform has made it for the module just now.
    [unsafe] fn opened(fd: c_int), if fd >= 0 => fd_opened(fd);
    /// The C library has made this block, unless it is null. A sanitizer keeps its own books, and the host does not hear of what
    /// is freed.
    ///
    /// # Safety
    /// It was made just now, for the module to free.
    [unsafe] fn block_made(block: *mut c_void), if !cfg!(feature = "pass-through") && !block.is_null() => block_made(block);
    /// A stream has this descriptor, unless it is null; numbers as [`alcedo_abi::hooks::HookTable::stream_opened`] has them.
    ///
    /// # Safety
    /// It was made just now, for the module to close, by the function of that number.
    [unsafe] fn stream_opened(stream: *mut c_void, fd: c_int, made_by: c_int), if !stream.is_null()
        => stream_opened(stream, fd, made_by);
    /// A stream writes into memory of the module, unless it is null; numbers as
    /// [`alcedo_abi::hooks::HookTable::stream_bound`] has them.
    ///
    /// # Safety
    /// It was made just now, for the module to close, by the function of that number and with this place.
    [unsafe] fn stream_bound(stream: *mut c_void, made_by: c_int, place: *const *mut c_void), if !stream.is_null()
        => stream_bound(stream, made_by, place);
    /// The unwinder has taken the table at `begin`.
    ///
    /// # Safety
    /// It has done so just now, and takes it back by `deregister`.
    [unsafe] fn frame_registered(begin: *const c_void, deregister: Deregister) => frame_registered(begin, deregister);
    /// The module is about to jump to where the buffer says.
    ///
    /// # Safety
    /// `setjmp` or one of its kin has filled the buffer.
    [unsafe] fn jumps(buffer: *mut c_void) => jumps(buffer);
}
