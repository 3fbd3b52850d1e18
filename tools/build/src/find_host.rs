//! Finds the host package for plugins. The user, a plugin's manifest or the workspace names this package.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};
use serde_json::Value;

use crate::error::BuildError;
use crate::find::{SourceCrate, metadata};
use crate::request::BuildRequest;

/// Finds a host package. `named` is its folder, its manifest, or its name in the workspace of one of `dirs` or of the working directory.
/// Without `named`, reads `host = "…"` from `[package.metadata.alcedo]` of a plugin or from `[workspace.metadata.alcedo]`. The value of
/// `host` is a path relative to the manifest that contains the table, or a package name. Returns `None` if neither table specifies a host.
///
/// # Errors
/// Fails if the named host does not exist, or a manifest cannot be read.
///
/// # Examples
/// ```no_run
/// use std::path::PathBuf;
///
/// use alcedo_build::find_host;
///
/// if let Some(host) = find_host(None, &[PathBuf::from("plugins")])? {
///     println!("host {} at {}", host.name, host.manifest.display());
/// }
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
pub fn find_host(named: Option<&str>, dirs: &[PathBuf]) -> Result<Option<SourceCrate>, BuildError> {
    if let Some(named) = named {
        let folders: Vec<_> = dirs.iter().cloned().chain([PathBuf::from(".")]).collect();
        return find_named(named, Path::new("."), &folders).map(Some);
    }
    for dir in dirs {
        let described = describe(dir)?;
        if let Some((named, base)) = host_of(&described) {
            return find_named(&named, &base, std::slice::from_ref(dir)).map(Some);
        }
    }
    Ok(None)
}

/// Finds a host by a path relative to `base`, or by a package name in the workspaces of `dirs`.
fn find_named(named: &str, base: &Path, dirs: &[PathBuf]) -> Result<SourceCrate, BuildError> {
    let path = base.join(named);
    let manifest = if path.is_dir() { path.join("Cargo.toml") } else { path };
    if manifest.is_file() {
        let manifest = manifest.canonicalize().unwrap_or(manifest);
        if let Some(host) = SourceCrate::host(&manifest)? {
            return Ok(host);
        }
    }
    for dir in dirs {
        // Skips a folder that cargo cannot describe, because the working directory need not contain a package.
        let Ok(described) = describe(dir) else { continue };
        if let Some(package) = described.packages.iter().find(|package| *package.name == named) {
            return Ok(SourceCrate::new(package, &described.workspace_packages(), true));
        }
    }
    Err(BuildError::NoHost { named: named.to_owned(), dirs: dirs.to_vec() })
}

fn describe(path: &Path) -> Result<Metadata, BuildError> {
    let manifest = if path.is_file() { path.to_owned() } else { path.join("Cargo.toml") };
    metadata(&BuildRequest::new(&manifest))
}

/// Returns the host that the metadata specifies, and the folder of the manifest with this metadata.
fn host_of(described: &Metadata) -> Option<(String, PathBuf)> {
    let host = |metadata: &Value| metadata.get("alcedo")?.get("host")?.as_str().map(str::to_owned);
    let of_package = |package: &Package| {
        let folder = package.manifest_path.parent()?;
        Some((host(&package.metadata)?, folder.as_std_path().to_owned()))
    };
    let of_workspace = || Some((host(&described.workspace_metadata)?, described.workspace_root.clone().into()));
    described.packages.iter().find_map(of_package).or_else(of_workspace)
}
