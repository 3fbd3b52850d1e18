//! Functions with which the hooks of a module report events to the host. Without a host, these functions do nothing.
#![expect(unsafe_code, reason = "calls functions of the host's table")]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::null;

use alcedo_abi::hooks::Deregister;

use crate::outside::hook_context;

/// Defines functions that call a function of the host's table. Without a host, or if the condition is false, the defined function returns a
/// default. The defined functions are safe if they accept every number and address, which the host looks up in its own records.
macro_rules! notes {
    ($(
        $(#[doc = $doc:tt])*
        $([$safety:ident])? fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $(, if $condition:expr)?
            => $entry:ident($($argument:expr),*) $(, or $without:expr)?;
    )*) => {$(
        $(#[doc = $doc])*
        pub(super) $($safety)? fn $name($($arg: $ty),*) $(-> $ret)? {
            match hook_context() {
                // SAFETY: the image pointer is from the same context. Strings are borrowed for the call.
                // The host promises to dereference only addresses that it has recorded.
                // The caller of an `unsafe` function promises the addresses that it passes.
                Some(context) $(if $condition)? => unsafe { (context.table.$entry)(context.image, $($argument),*) },
                _ => ($($without)?),
            }
        }
    )*};
}

notes! {
    /// Reports that the module no longer owns the descriptor, because it is closed or now belongs to a stream.
    fn closed(fd: c_int) => fd_closed(fd);
    /// Reports that the signals of a descriptor have changed, unless `result` is an error.
    fn signals_changed(fd: c_int, result: c_int), if result >= 0 => fd_signals(fd);
    /// Reports the full name of this thread.
    fn thread_named(name: &[u8]) => thread_named(name.as_ptr(), name.len());
    /// Reports an address that `dlsym` has found for the module.
    fn looked_up(found: *const c_void) => looked_up(found);
    /// Returns a nonzero value if the module is being closed and therefore must not call the C function with the name `function`.
    fn refuses(function: &CStr) -> c_int => refuses(function.as_ptr()), or 0;
    /// Reports that the platform is about to move or free a block. Returns a nonzero value if the host has recorded the block for this
    /// module.
    fn block_borrowed(block: *mut c_void) -> c_int => block_borrowed(block), or 0;
    /// Reports that the unwinder is about to deregister an unwind table. Returns a nonzero value if the table is still registered.
    fn frame_is_there(begin: *const c_void) -> c_int => frame_deregistered(begin), or 1;
    /// Reports that a stream or directory stream is about to be closed. Returns the location at which closing the stream stores the
    /// address of a block, or null.
    fn stream_closed(stream: *mut c_void) -> *const *mut c_void => stream_closed(stream), or null();
    /// Reports a new child process. Does nothing in the child, or if no process was started.
    fn child_started(pid: c_int), if pid > 0 => child_started(pid);

    /// Reports a new descriptor. Does nothing if `fd` is an error.
    ///
    /// # Safety
    /// The platform has just created the descriptor for the module.
    [unsafe] fn opened(fd: c_int), if fd >= 0 => fd_opened(fd);
    /// Reports a new block of the C heap, unless the block is null. Does nothing in a build with a sanitizer, because such a build does not
    /// report freed blocks to the host.
    ///
    /// # Safety
    /// The block was just allocated for the module to free.
    [unsafe] fn block_made(block: *mut c_void), if !cfg!(feature = "pass-through") && !block.is_null() => block_made(block);
    /// Reports a stream with a descriptor, unless the stream is null. [`alcedo_abi::hooks::HookTable::stream_opened`] lists the
    /// values of `made_by`.
    ///
    /// # Safety
    /// The function that `made_by` specifies has just created the stream, and the module closes the stream.
    [unsafe] fn stream_opened(stream: *mut c_void, fd: c_int, made_by: c_int), if !stream.is_null()
        => stream_opened(stream, fd, made_by);
    /// Reports a stream that writes into memory of the module, unless the stream is null.
    /// [`alcedo_abi::hooks::HookTable::stream_bound`] lists the values of `made_by`.
    ///
    /// # Safety
    /// The function that `made_by` specifies has just created the stream with this `location`, and the module closes the stream.
    [unsafe] fn stream_bound(stream: *mut c_void, made_by: c_int, location: *const *mut c_void), if !stream.is_null()
        => stream_bound(stream, made_by, location);
    /// Reports that the unwinder has registered the unwind table at `begin`.
    ///
    /// # Safety
    /// The table was just registered, and `deregister` removes the table.
    [unsafe] fn frame_registered(begin: *const c_void, deregister: Deregister) => frame_registered(begin, deregister);
    /// Reports that the module is about to jump to the location in the buffer.
    ///
    /// # Safety
    /// `setjmp` or a related function has filled the buffer.
    [unsafe] fn jumps(buffer: *mut c_void) => jumps(buffer);
}
