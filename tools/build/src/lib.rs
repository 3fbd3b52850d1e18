//! The one place that runs cargo for plugins: the `alcedo` tool, the stress binary and the integration tests
//! all build, find and watch plugins through it, so that a plugin is built in one way everywhere.
//!
//! Decisions (what environment a nested cargo may see, what cargo's messages amount to, when a burst of saves
//! is over) are pure files; `running`, `find`, `variants`, `switches`, `origin` and `watch` are the thin shells that act on them.

mod cargo_env;
mod error;
mod find;
mod find_host;
mod origin;
mod report;
mod request;
mod running;
mod settle;
mod switches;
mod variants;
mod watch;

pub use error::{BuildError, WatchError};
pub use find::{PluginCrate, PluginFolder, metadata};
pub use find_host::{HostCrate, find_host};
pub use report::{Artifact, BuildOutcome};
pub use request::BuildRequest;
pub use running::{RunningBuild, build, spawn};
pub use settle::{Due, Settle, is_source, is_source_folder};
pub use switches::Switches;
pub use variants::{Member, Variants};
pub use watch::{SourceEvent, SourceWatch};
