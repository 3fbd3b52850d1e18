//! Queries cargo for descriptions of packages and workspaces. Does not resolve dependencies, because resolving would require a network.

use std::io;
use std::path::{Path, PathBuf};

use alcedo_build::{BuildError, BuildRequest};
use alcedo_runtime::development::plain_file;
use cargo_metadata::{DependencyKind, Metadata, Package, Target};

/// Returns the nearest manifest at or above a folder.
pub(crate) fn manifest_above(dir: &Path) -> Option<PathBuf> {
    dir.ancestors().map(|dir| dir.join("Cargo.toml")).find(|path| path.is_file())
}

/// Names of the crates through which a host uses the runtime.
pub(crate) const OF_HOSTS: [&str; 2] = ["alcedo", "alcedo-runtime"];

/// Returns `true` if a package depends on the runtime. Ignores dev-dependencies and build dependencies.
pub(crate) fn uses_runtime(package: &Package) -> bool {
    OF_HOSTS.iter().any(|name| uses(package, name))
}

/// Returns the host packages of a workspace. A host package uses the runtime and has a program.
pub(crate) fn hosts(metadata: &Metadata) -> Vec<&Package> {
    let is_host = |package: &&Package| uses_runtime(package) && package.targets.iter().any(Target::is_bin);
    metadata.packages.iter().filter(is_host).collect()
}

/// Returns `true` if a package depends on the package `name`. Ignores dev-dependencies and build dependencies.
pub(crate) fn uses(package: &Package, name: &str) -> bool {
    package.dependencies.iter().any(|other| other.name == name && other.kind == DependencyKind::Normal)
}

/// Reads a manifest or source file of at most 16 MiB.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    plain_file::read_text(path, 1 << 24)
}

/// Returns the description of the workspace that contains `manifest`.
///
/// # Errors
/// Returns cargo's error message.
pub(crate) fn described(manifest: &Path) -> Result<Metadata, String> {
    alcedo_build::metadata(&BuildRequest::new(manifest)).map_err(|error| match error {
        BuildError::Metadata { message, .. } => message,
        error => error.to_string(),
    })
}
