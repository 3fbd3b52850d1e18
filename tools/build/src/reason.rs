//! Reasons for a build by cargo.

use std::path::PathBuf;

/// Reason why cargo runs a build instead of the compiler alone.
///
/// # Examples
/// ```
/// use alcedo_build::CargoReason;
///
/// let reason = CargoReason::Changed("glue/src/lib.rs".into());
/// assert_eq!(reason.to_string(), "glue/src/lib.rs has changed");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CargoReason {
    /// No compiler call is recorded, because this is the first build, or because cargo has compiled nothing so far.
    #[error("no compiler call is recorded yet")]
    NotRecorded,
    /// An input that only cargo handles has changed: a manifest, the lock file, a configuration, the toolchain, a source of a
    /// dependency, an input of a build script, or a library.
    #[error("{} has changed", .0.display())]
    Changed(PathBuf),
    /// An environment variable has changed.
    #[error("the variable {0} has changed")]
    Variable(String),
    /// A build script lists no inputs, so cargo runs the script again after a change to any file in its package.
    #[error("the build script of {0} prints no `rerun-if-changed`")]
    BuildScript(String),
    /// Cargo is using the target folder.
    #[error("another cargo uses the target folder")]
    Locked,
    /// A compiler call without cargo failed, but not because of an error in the sources.
    #[error("the compiler alone could not build it")]
    Failed,
    /// The build is of a kind that always runs cargo: it was started without a [`Builder`](crate::Builder), or its results are programs.
    #[error("it was requested")]
    Requested,
}
