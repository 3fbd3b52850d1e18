//! Runs cargo for plugins. The `alcedo` tool, the stress program and the integration tests use this crate to build, find and watch plugins,
//! so all of them build plugins in the same way.
//!
//! Pure functions make four decisions: which environment a nested cargo receives, what cargo's messages mean, when a burst of saves is
//! over, and if a build needs cargo. Other modules act on these decisions.

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
mod scripts;
mod stamp;
mod switches;
mod variants;
mod watch;

pub use builder::Builder;
pub use cargo_env::has_folder;
pub use copy::SourceCopy;
pub use debounce::Debounce;
pub use error::{BuildError, WatchError};
pub use find::{PluginFolder, SourceCrate, manifest_of, metadata};
pub use find_host::find_host;
pub use link::run_if_linker;
pub use reason::CargoReason;
pub use report::{Artifact, BuildMethod, BuildOutcome};
pub use request::{BuildRequest, shell_word};
pub use running::{RunningBuild, build};
pub use scripts::{SCRIPT_CLASSES, script_files};
pub use switches::Switches;
pub use variants::{Member, Variants};
pub use watch::{SourceEvent, SourceWatch, links, real_path};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while it held the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
