//! Runtime part of every plugin: the attachment to the host, the panic guard at the ABI boundary, and the bridges that forward
//! log records to the host. Contains neither classes nor calls by name.
//!
//! The code has no thread-locals with destructors, starts no threads and prints nothing, because each of these would keep the image mapped.
//! Without a host, for example in a plugin's `cargo test`, the functions do nothing.

mod attach;
mod attached;
mod error;
#[cfg(all(hooked, not(feature = "pass-through")))]
mod heap;
mod hook_names;
#[cfg(hooked)]
#[doc(hidden)]
pub mod hooks;
mod host;
mod log_bridge;
mod loggers;
mod outside;
mod panic_guard;
mod panic_hook;
mod records;
mod stop;
mod trace_bridge;

pub use attach::{attach, detach};
pub use attached::{is_game_thread, may_call_directly, may_open_scope};
pub use error::{CallError, SourcePlace};
#[cfg(all(hooked, not(feature = "pass-through")))]
pub use heap::{ModuleHeap, live_bytes};
pub use host::{Host, borrowed_text, put_text};
pub use loggers::with_loggers;
pub use outside::{close_direct_calls, context, direct_version, mode, slices};
pub use panic_guard::{catch_panics, catch_panics_directly, catch_panics_uncounted, fail, format_value, keep_hook};
/// The platform's allocator, for a module without its own heap. Used in builds with a sanitizer, which must intercept every allocation.
/// Also used on platforms without hooks, where images stay mapped permanently. Callable on any thread.
#[cfg(any(not(hooked), feature = "pass-through"))]
pub use std::alloc::System as ModuleHeap;
pub use stop::{StopToken, stop_requested};

/// Returns zero, because the bytes that the module allocates from the platform's allocator are not counted.
#[cfg(any(not(hooked), feature = "pass-through"))]
#[must_use]
pub fn live_bytes() -> u64 {
    0
}

/// True if the module has hooks of the C functions that leave state in the process.
pub const HOOKED: bool = cfg!(hooked);

/// True if [`ModuleHeap`] is a separate heap of the module.
pub const OWN_HEAP: bool = cfg!(all(hooked, not(feature = "pass-through")));

/// Version string of the compiler that builds the plugin.
pub const COMPILER: &str = env!("ALCEDO_COMPILER");
