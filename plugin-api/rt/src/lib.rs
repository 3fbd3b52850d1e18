//! What every plugin carries inside: its attachment to the host, the trap that stops panics at the border, and the
//! bridge that brings logs to the host. It knows neither classes nor calls by name.
//!
//! Nothing here has a thread-local with a destructor, keeps a thread, or prints: each of those would pin the image.
//! Where no host is attached, as in a plugin's own `cargo test`, everything falls through quietly.

mod attach;
mod error;
mod log_bridge;
mod records;
mod trace_bridge;
mod trap;

pub use attach::{attach, context, detach};
pub use error::{CallError, Place};
pub use trap::{fail, trap};

/// The compiler that builds the plugin, in its own words.
pub const COMPILER: &str = env!("ALCEDO_COMPILER");
