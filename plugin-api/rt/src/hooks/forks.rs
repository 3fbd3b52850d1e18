//! Hook of what `pthread_atfork` calls: functions for both sides of a `fork`. The C library forgets those of a library that
//! is unmapped, if it was told which library they are of.
#![expect(unsafe_code, reason = "a C function, handed over to the platform")]

use core::ffi::{c_int, c_void};

use super::closing::is_refused;
use super::platform;
use crate::outside::hook_context;

/// What is called around a `fork`.
pub type AtFork = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    /// By which the C library knows this library.
    static __dso_handle: u8;
}

/// `__register_atfork` of this module: whatever it says, it is this library that wants to be called.
///
/// # Safety
/// As the C function says.
pub unsafe extern "C" fn register_atfork(prepare: AtFork, parent: AtFork, child: AtFork, dso: *mut c_void) -> c_int {
    if is_refused(c"pthread_atfork") {
        return libc::ENOMEM;
    }
    let dso = if hook_context().is_some() { (&raw const __dso_handle).cast_mut().cast() } else { dso };
    // SAFETY: our caller keeps to the C function's contract.
    unsafe { platform::__register_atfork(prepare, parent, child, dso) }
}
