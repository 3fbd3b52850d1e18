//! Which plugins there are, and what they are made of. Cargo is asked once per folder, without resolving dependencies:
//! that needs no network and takes a few milliseconds.

use crate::error::BuildError;
use crate::request::BuildRequest;
use crate::running::not_run;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A crate that builds to a library a host can load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginCrate {
    /// The package's name.
    pub name: String,
    /// Its `Cargo.toml`.
    pub manifest: PathBuf,
    /// The folders whose change means a build: its own sources and those of path dependencies in its workspace.
    pub source_dirs: Vec<PathBuf>,
    target_dir: PathBuf,
}

impl PluginCrate {
    /// The folder cargo builds it into, if a request names no other.
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    /// A debug build of this plugin alone.
    pub fn request(&self) -> BuildRequest<'_> {
        BuildRequest::new(&self.manifest).package(&self.name)
    }
}

/// The plugins in `dirs`, each a plugin crate or the root of a workspace, whose members that are plugins are taken.
pub fn find_plugins(dirs: &[PathBuf]) -> Result<Vec<PluginCrate>, BuildError> {
    let mut found: Vec<PluginCrate> = Vec::new();
    for dir in dirs {
        let manifest = if dir.is_file() { dir.clone() } else { dir.join("Cargo.toml") };
        let metadata = metadata(&BuildRequest::new(&manifest))?;
        for plugin in plugins(&metadata, &manifest.canonicalize().unwrap_or(manifest)) {
            if !found.contains(&plugin) {
                found.push(plugin);
            }
        }
    }
    if found.is_empty() { Err(BuildError::NoPlugins { dirs: dirs.to_vec() }) } else { Ok(found) }
}

/// The folder `request` builds into.
pub(crate) fn target_dir(request: &BuildRequest<'_>) -> Result<PathBuf, BuildError> {
    match request.own_target_dir() {
        Some(dir) => Ok(dir),
        None => Ok(metadata(request)?.target_directory.into()),
    }
}

pub(crate) fn metadata(request: &BuildRequest<'_>) -> Result<Metadata, BuildError> {
    let manifest = request.manifest();
    let mut cargo = request.cargo();
    cargo.args(["metadata", "--no-deps", "--format-version=1", "--color=never", "--manifest-path"]).arg(&manifest);
    let output = cargo.output().map_err(|source| not_run(&cargo, source))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(BuildError::Metadata { manifest, message });
    }
    MetadataCommand::parse(String::from_utf8_lossy(&output.stdout))
        .map_err(|error| BuildError::Metadata { manifest, message: error.to_string() })
}

/// At the root of a workspace all its plugins are meant; elsewhere only the crate itself.
fn plugins(metadata: &Metadata, manifest: &Path) -> Vec<PluginCrate> {
    let members = metadata.workspace_packages();
    let at_root = same(metadata.workspace_root.as_std_path(), manifest.parent().unwrap_or(manifest));
    members
        .iter()
        .filter(|package| package.targets.iter().any(Target::is_cdylib))
        .filter(|package| at_root || same(package.manifest_path.as_std_path(), manifest))
        .map(|package| PluginCrate {
            name: package.name.to_string(),
            manifest: package.manifest_path.clone().into(),
            source_dirs: source_dirs(package, &members),
            target_dir: metadata.target_directory.clone().into(),
        })
        .collect()
}

/// The folders of `package` and, through path dependencies, of the members it is built from.
pub(crate) fn source_dirs(package: &Package, members: &[&Package]) -> Vec<PathBuf> {
    let mut dirs = BTreeSet::new();
    let mut reached = vec![package];
    let mut next = 0;
    while let Some(&package) = reached.get(next) {
        next += 1;
        dirs.extend(package.targets.iter().filter_map(|target| source_dir(package, target)));
        for dependency in package.dependencies.iter().filter(|d| d.kind != DependencyKind::Development) {
            let Some(dir) = &dependency.path else { continue };
            let member = members.iter().find(|member| member.manifest_path.parent() == Some(dir));
            if let Some(member) = member.filter(|member| reached.iter().all(|known| known.id != member.id)) {
                reached.push(member);
            }
        }
    }
    dirs.into_iter().collect()
}

/// The folder of a target that goes into the library. A `build.rs` beside the manifest names no folder, because the
/// manifest's folder holds `target` as well; the watch looks at that folder without going into it.
fn source_dir(package: &Package, target: &Target) -> Option<PathBuf> {
    let dir = target.src_path.parent()?;
    let library = target.is_lib() || target.is_rlib() || target.is_cdylib() || target.is_proc_macro();
    let script = target.is_custom_build() && package.manifest_path.parent() != Some(dir);
    (library || script).then(|| dir.into())
}

fn same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
