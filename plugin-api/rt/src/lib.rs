//! What every plugin carries inside: its attachment to the host, the trap that stops panics at the border, and the
//! bridge that brings logs to the host. It has neither classes nor calls by name.
//!
//! Nothing here has a thread-local with a destructor, keeps a thread, or prints: each of those would pin the image.
//! Where no host is attached, as in a plugin's own `cargo test`, everything falls through quietly.

mod attach;
mod error;
#[cfg(all(hooked, not(feature = "pass-through")))]
mod heap;
#[cfg(any(not(hooked), feature = "pass-through"))]
#[path = "platform_heap.rs"]
mod heap;
mod hook_names;
#[cfg(hooked)]
#[doc(hidden)]
pub mod hooks;
mod host;
mod log_bridge;
mod panic_hook;
mod records;
mod slot;
mod stop;
mod this_thread;
mod trace_bridge;
mod trap;

pub use attach::{attach, context, detach, is_game_thread, mode};
pub use error::{CallError, SourcePlace};
pub use heap::{ModuleHeap, live_bytes};
pub use host::{Host, lent_text, put_text};
pub use stop::{StopToken, stop_requested};
pub use trap::{fail, keep_hook, trap};

/// Whether the module has hooks of the C functions by which it could leave something behind.
pub const HOOKED: bool = cfg!(hooked);

/// Whether [`ModuleHeap`] is a heap of the module's own.
pub const OWN_HEAP: bool = cfg!(all(hooked, not(feature = "pass-through")));

/// The compiler that builds the plugin, in its own words.
pub const COMPILER: &str = env!("ALCEDO_COMPILER");
