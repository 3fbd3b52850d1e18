//! What cargo says of a package or a workspace, without resolving dependencies: that needs no network.

use std::path::Path;
use std::process::Command;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};

/// Returns the packages of a workspace that are hosts: programs that use the runtime.
pub(crate) fn hosts(metadata: &Metadata) -> Vec<&Package> {
    let is_host = |package: &&Package| uses(package, "alcedo-runtime") && package.targets.iter().any(Target::is_bin);
    metadata.packages.iter().filter(is_host).collect()
}

/// Checks whether a package, without its tests, depends on another one.
pub(crate) fn uses(package: &Package, name: &str) -> bool {
    package.dependencies.iter().any(|other| other.name == name && other.kind == DependencyKind::Normal)
}

/// The most bytes of a manifest or source file that a command reads.
pub(crate) const LARGEST_MANIFEST: u64 = 1 << 24;

/// The packages of the workspace that `manifest` belongs to.
///
/// # Errors
/// What cargo says against it.
pub(crate) fn described(manifest: &Path) -> Result<Metadata, String> {
    let cargo = std::env::var_os("CARGO").filter(|cargo| !cargo.is_empty()).unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version=1", "--color=never", "--manifest-path"]).arg(manifest);
    let output = command.output().map_err(|source| source.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    MetadataCommand::parse(String::from_utf8_lossy(&output.stdout)).map_err(|error| error.to_string())
}
