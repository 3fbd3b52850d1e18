//! Runs cargo for plugins: the `alcedo` tool, the stress binary and the integration tests build, find and watch plugins
//! through this crate, so that plugins are built the same way everywhere.
//!
//! Decisions (the environment of a nested cargo, the result of cargo's messages, the end of a burst of saves, whether a build needs
//! cargo) are pure functions; `running`, `builder`, `direct`, `link`, `copy`, `find`, `variants`, `switches`, `origin` and `watch` execute them.

mod builder;
mod call;
mod cargo_env;
mod copy;
mod debounce;
mod dep_info;
mod direct;
mod error;
mod find;
mod find_host;
mod link;
mod named_files;
mod origin;
mod processes;
mod reason;
mod record;
mod recorder;
mod report;
mod request;
mod running;
mod stamp;
mod switches;
mod variants;
mod watch;

pub use builder::Builder;
pub use copy::SourceCopy;
pub use debounce::{Debounce, Due, is_source, is_source_folder};
pub use error::{BuildError, WatchError};
pub use find::{PluginCrate, PluginFolder, metadata};
pub use find_host::{HostCrate, find_host};
pub use link::run_if_linker;
pub use reason::CargoReason;
pub use report::{Artifact, BuildMethod, BuildOutcome};
pub use request::BuildRequest;
pub use running::{RunningBuild, build, spawn};
pub use switches::Switches;
pub use variants::{Member, Variants};
pub use watch::{SourceEvent, SourceWatch};
