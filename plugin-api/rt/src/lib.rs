//! What every plugin carries inside: its attachment to the host, the trap that stops panics at the border, and the
//! bridge that brings logs to the host. It has neither classes nor calls by name.
//!
//! Nothing here has a thread-local with a destructor, keeps a thread, or prints: each of those would pin the image.
//! Where no host is attached, as in a plugin's own `cargo test`, everything falls through quietly.

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
mod panic_hook;
mod records;
mod stop;
mod trace_bridge;
mod trap;

pub use attach::{attach, detach};
pub use attached::{
    close_direct_calls, context, direct_version, is_game_thread, may_call_directly, may_open_scope, mode,
};
pub use error::{CallError, SourcePlace};
#[cfg(all(hooked, not(feature = "pass-through")))]
pub use heap::{ModuleHeap, live_bytes};
pub use host::{Host, lent_text, put_text};
pub use loggers::with_loggers;
/// The allocator of a module where it has no heap of its own, which is the platform's: under a sanitizer, which has to see
/// every allocation itself, and on platforms without hooks, where an image is never unmapped. Any thread.
#[cfg(any(not(hooked), feature = "pass-through"))]
pub use std::alloc::System as ModuleHeap;
pub use stop::{StopToken, stop_requested};
pub use trap::{fail, keep_hook, trap, trap_directly, words_of};

/// Bytes that the module has allocated and not freed: the platform's allocator counts none.
#[cfg(any(not(hooked), feature = "pass-through"))]
#[must_use]
pub fn live_bytes() -> u64 {
    0
}

/// Whether the module has hooks of the C functions by which it could leave something behind.
pub const HOOKED: bool = cfg!(hooked);

/// Whether [`ModuleHeap`] is a heap of the module's own.
pub const OWN_HEAP: bool = cfg!(all(hooked, not(feature = "pass-through")));

/// The compiler that builds the plugin, in its own words.
pub const COMPILER: &str = env!("ALCEDO_COMPILER");
