//! Runs cargo for plugins: the `alcedo` tool, the stress binary and the integration tests build, find and watch plugins
//! through this crate, so that plugins are built the same way everywhere.
//!
//! Decisions (the environment of a nested cargo, the result of cargo's messages, the end of a burst of saves) are pure
//! functions; `running`, `find`, `copy`, `variants`, `switches`, `origin` and `watch` execute them.

mod cargo_env;
mod copy;
mod debounce;
mod error;
mod find;
mod find_host;
mod origin;
mod report;
mod request;
mod running;
mod switches;
mod variants;
mod watch;

pub use copy::SourceCopy;
pub use debounce::{Debounce, Due, is_source, is_source_folder};
pub use error::{BuildError, WatchError};
pub use find::{PluginCrate, PluginFolder, metadata};
pub use find_host::{HostCrate, find_host};
pub use report::{Artifact, BuildOutcome};
pub use request::BuildRequest;
pub use running::{RunningBuild, build, spawn};
pub use switches::Switches;
pub use variants::{Member, Variants};
pub use watch::{SourceEvent, SourceWatch};
