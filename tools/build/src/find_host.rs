//! Finds the host package for plugins. The user, a plugin's manifest or the workspace names this package.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};
use serde_json::Value;

use crate::error::BuildError;
use crate::find::{SourceCrate, manifest_of, metadata, same};
use crate::request::BuildRequest;

/// Finds a host package. `named` is its folder, its manifest, or its name in the workspace of one of `dirs` or of the working directory.
/// Without `named`, reads `host = "…"` from `[package.metadata.alcedo]` of a plugin or from `[workspace.metadata.alcedo]`. The value of
/// `host` is a path relative to the manifest that contains the table, or a package name. Of several `dirs`, the first folder whose tables
/// specify a host selects the host. Returns `None` if no table specifies a host.
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
        if let Some((named, base)) = host_of(&described, &manifest_of(dir)) {
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
    metadata(&BuildRequest::new(&manifest_of(path)))
}

/// Returns the host that the metadata of `manifest` specifies, and the folder of the manifest with this metadata. For the root of a
/// workspace, also reads the metadata of the `default-members`, because only these plugins are loaded. Reads the metadata of the remaining
/// members last, because these plugins may need their own host.
fn host_of(described: &Metadata, manifest: &Path) -> Option<(String, PathBuf)> {
    let host = |metadata: &Value| metadata.get("alcedo")?.get("host")?.as_str().map(str::to_owned);
    let of_package = |package: &Package| {
        let folder = package.manifest_path.parent()?;
        Some((host(&package.metadata)?, folder.as_std_path().to_owned()))
    };
    let of_workspace = || Some((host(&described.workspace_metadata)?, described.workspace_root.clone().into()));
    let is_own = |package: &&Package| same(package.manifest_path.as_std_path(), manifest);
    let is_root = same(described.workspace_root.join("Cargo.toml").as_std_path(), manifest);
    let own = described.packages.iter().filter(is_own).find_map(of_package);
    let of_defaults = || described.workspace_default_packages().into_iter().filter(|_| is_root).find_map(of_package);
    let of_members = || described.packages.iter().filter(|_| is_root).find_map(of_package);
    own.or_else(of_defaults).or_else(of_workspace).or_else(of_members)
}

#[cfg(test)]
mod tests {
    use super::find_host;
    use std::fs;

    #[test]
    fn a_plugin_runs_in_the_host_of_its_own_manifest() {
        let dir = tempfile::tempdir().unwrap();
        let host = |name: &str| format!("[package.metadata.alcedo]\nhost = {name:?}\n");
        let packages = [
            ("one", host("zoo")),
            ("two", host("rig")),
            ("three", String::new()),
            ("rig", String::new()),
            ("zoo", String::new()),
        ];
        for (name, more) in &packages {
            let folder = dir.path().join(name);
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("src/lib.rs"), "").unwrap();
            let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{more}");
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        }
        let members = packages.each_ref().map(|(name, _)| *name);
        let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n");
        fs::write(dir.path().join("Cargo.toml"), &manifest).unwrap();
        let found = |folder: &str| find_host(None, &[dir.path().join(folder)]).unwrap().map(|host| host.name);
        let expected = [("one", Some("zoo")), ("two", Some("rig")), ("three", None), ("", Some("zoo"))];
        for (folder, host) in expected {
            assert_eq!(found(folder).as_deref(), host, "{folder}");
        }
        for more in ["[\"two\", \"three\"]", "[\"three\"]\n[workspace.metadata.alcedo]\nhost = \"rig\""] {
            let manifest = format!("{manifest}default-members = {more}\n");
            fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
            assert_eq!(found("").as_deref(), Some("rig"), "{more}");
        }
    }
}
