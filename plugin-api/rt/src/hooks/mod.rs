//! The module's own definitions of C functions that leave state in the process: thread-locals, threads, exit handlers, signals, memory and
//! file descriptors. The linker binds all code of the module to these hidden definitions instead of the platform's functions. Code outside
//! the module cannot bind to them.
//!
//! While a host is present, each hook calls the host's function in [`HookTable`](alcedo_abi::hooks::HookTable). Without a host, for example
//! in a foreign loader, the hook calls the platform's function. Only a library with `module!` has hooks, because this macro expands to
//! [`__alcedo_hooks`](crate::__alcedo_hooks), which defines the C names. Tests and programs that only link this crate use the platform's
//! functions.

#[macro_use]
mod trampolines;
mod assembly;
mod blocks;
mod closing;
mod descriptors;
mod functions;
mod lookups;
mod notes;
pub(crate) mod platform;
mod signals;
mod tables;
mod thread_names;

#[cfg(target_arch = "x86_64")]
pub use assembly::{__asprintf_chk, asprintf, vfork};
pub use blocks::*;
pub use core::arch::global_asm;
pub use descriptors::*;
pub use functions::*;
pub use platform::{AtFork, resolve};
pub use signals::*;
pub use tables::*;
pub use trampolines::*;

/// Checks if a text is the name of a C function. Other text would become instructions in the assembly of the module.
pub const fn is_c_name(text: &str) -> bool {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphanumeric() && (at > 0 || !bytes[at].is_ascii_digit()) || bytes[at] == b'_') {
            return false;
        }
        at += 1;
    }
    at > 0
}
