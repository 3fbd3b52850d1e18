//! Finds plugins and their sources. Cargo is called once per folder, without resolving dependencies. This call needs no network and takes a
//! few milliseconds.

use crate::error::BuildError;
use crate::processes::not_run;
use crate::record::cargo_files;
use crate::request::BuildRequest;
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, Target};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crate of a plugin or a host.
///
/// # Examples
/// ```
/// use alcedo_build::SourceCrate;
///
/// let manifest = "plugins/spinner/Cargo.toml".into();
/// let spinner = SourceCrate { name: "spinner".into(), manifest, source_dirs: vec!["plugins/spinner/src".into()], default_run: None };
/// let request = spinner.request().release(true);
/// # let _ = request;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceCrate {
    /// Package name.
    pub name: String,
    /// Path of `Cargo.toml`.
    pub manifest: PathBuf,
    /// Folders that contain the sources of the crate, and of its path dependencies in the same workspace. A change to a file in these
    /// folders requires a build.
    pub source_dirs: Vec<PathBuf>,
    /// Name of the program that `cargo run` selects among several programs. From the manifest key `default-run`.
    pub default_run: Option<String>,
}

impl SourceCrate {
    /// Describes the host of a manifest. Returns `None` if the manifest contains no package.
    ///
    /// # Errors
    /// Returns [`BuildError::Metadata`] for a manifest that cargo cannot read.
    ///
    /// # Examples
    /// ```no_run
    /// use std::path::Path;
    ///
    /// use alcedo_build::SourceCrate;
    ///
    /// if let Some(host) = SourceCrate::host(Path::new("rig/Cargo.toml"))? {
    ///     println!("{}", host.name);
    /// }
    /// # Ok::<(), alcedo_build::BuildError>(())
    /// ```
    pub fn host(manifest: &Path) -> Result<Option<Self>, BuildError> {
        let described = metadata(&BuildRequest::new(manifest))?;
        let host = described.packages.iter().find(|package| same(package.manifest_path.as_std_path(), manifest));
        Ok(host.map(|package| Self::new(package, &described.workspace_packages(), true)))
    }

    /// Describes a package of a workspace. Includes the source folders of the package's programs only if the package is a host.
    pub(crate) fn new(package: &Package, members: &[&Package], is_host: bool) -> Self {
        let programs = package.targets.iter().filter(|target| is_host && target.is_bin());
        let programs = programs.filter_map(|target| target.src_path.parent().map(PathBuf::from));
        let dirs: BTreeSet<_> = source_dirs(package, members).into_iter().chain(programs).collect();
        Self {
            name: package.name.to_string(),
            manifest: package.manifest_path.clone().into(),
            source_dirs: dirs.into_iter().collect(),
            default_run: package.default_run.clone(),
        }
    }

    /// Returns a request for a debug build of this package only.
    pub fn request(&self) -> BuildRequest<'_> {
        BuildRequest::new(&self.manifest).package(&self.name)
    }

    /// Returns the files of cargo that determine the builds of this crate: manifests and build scripts of its sources, lock files, and
    /// cargo's configuration and toolchain. Includes files of a workspace in another folder that a manifest names. The files need not
    /// exist.
    ///
    /// # Examples
    /// ```
    /// use std::path::Path;
    ///
    /// use alcedo_build::SourceCrate;
    ///
    /// let (manifest, source_dirs) = ("/w/rig/Cargo.toml".into(), vec!["/w/rig/src".into()]);
    /// let rig = SourceCrate { name: "rig".into(), manifest, source_dirs, default_run: None };
    /// assert!(rig.cargo_files().contains(Path::new("/w/.cargo/config.toml")));
    /// ```
    pub fn cargo_files(&self) -> BTreeSet<PathBuf> {
        let folder = self.manifest.parent().unwrap_or(&self.manifest).to_owned();
        cargo_files(&self.source_dirs, &[folder], &std::env::vars_os().collect())
    }
}

/// Plugins of one folder. One cargo process builds all these plugins.
///
/// # Examples
/// ```no_run
/// use std::path::Path;
///
/// use alcedo_build::{PluginFolder, build};
///
/// let folder = PluginFolder::of(Path::new("plugins"))?;
/// for plugin in &folder.plugins {
///     println!("{}", plugin.name);
/// }
/// build(&folder.request())?;
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginFolder {
    /// Path of the folder's `Cargo.toml`.
    pub manifest: PathBuf,
    /// The plugin in the folder. For a workspace root, the plugins among `default-members`, or all plugins if no default member is a
    /// plugin.
    pub plugins: Vec<SourceCrate>,
    /// Remaining plugins of the workspace, which are built only if their own folders are specified.
    pub left_out: Vec<SourceCrate>,
}

impl PluginFolder {
    /// Finds the plugins in `dir`. The path denotes a plugin crate, the root of a workspace, or the manifest of either.
    ///
    /// # Errors
    /// Returns [`BuildError::NoPlugins`] for a folder without plugins, and [`BuildError::Metadata`] for a manifest that cargo cannot read.
    pub fn of(dir: &Path) -> Result<Self, BuildError> {
        let manifest = manifest_of(dir);
        let metadata = metadata(&BuildRequest::new(&manifest))?;
        let manifest = manifest.canonicalize().unwrap_or(manifest);
        let (plugins, left_out) = plugins(&metadata, &manifest);
        if plugins.is_empty() {
            return Err(BuildError::NoPlugins { dirs: vec![dir.to_owned()] });
        }
        Ok(Self { manifest, plugins, left_out })
    }

    /// Returns a request for a debug build of only these plugins, without hosts in their workspace.
    pub fn request(&self) -> BuildRequest<'_> {
        let request = BuildRequest::new(&self.manifest);
        self.plugins.iter().fold(request, |request, plugin| request.package(&plugin.name))
    }
}

/// Returns the manifest that a path denotes: the file itself, or `Cargo.toml` in the folder. The manifest need not exist.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use alcedo_build::manifest_of;
///
/// assert_eq!(manifest_of(Path::new("no-such-folder")), Path::new("no-such-folder/Cargo.toml"));
/// ```
pub fn manifest_of(path: &Path) -> PathBuf {
    if path.is_file() { path.to_owned() } else { path.join("Cargo.toml") }
}

pub(crate) fn target_dir(request: &BuildRequest<'_>) -> Result<PathBuf, BuildError> {
    match request.own_target_dir() {
        Some(dir) => Ok(dir),
        None => Ok(metadata(request)?.target_directory.into()),
    }
}

/// Describes the package or workspace of a request, without its dependencies.
///
/// # Errors
/// Returns [`BuildError::Metadata`] for a manifest that cargo cannot read.
pub fn metadata(request: &BuildRequest<'_>) -> Result<Metadata, BuildError> {
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

/// Returns two lists: the plugins that the manifest selects, and the remaining plugins of the workspace.
fn plugins(metadata: &Metadata, manifest: &Path) -> (Vec<SourceCrate>, Vec<SourceCrate>) {
    let members = metadata.workspace_packages();
    let plugin = |package: &Package| SourceCrate::new(package, &members, false);
    let all = members.iter().filter(|package| package.targets.iter().any(Target::is_cdylib));
    if !same(metadata.workspace_root.as_std_path(), manifest.parent().unwrap_or(manifest)) {
        let own = all.filter(|package| same(package.manifest_path.as_std_path(), manifest));
        return (own.map(|package| plugin(package)).collect(), Vec::new());
    }
    let defaults = metadata.workspace_default_packages();
    let is_default = |package: &&&Package| defaults.iter().any(|default| default.id == package.id);
    let (chosen, others): (Vec<&&Package>, Vec<_>) = all.partition(is_default);
    let (chosen, others) = if chosen.is_empty() { (others, chosen) } else { (chosen, others) };
    let crates = |packages: Vec<&&Package>| packages.into_iter().map(|package| plugin(package)).collect();
    (crates(chosen), crates(others))
}

/// Returns the source folders of `package` and of the members that it depends on through paths.
fn source_dirs(package: &Package, members: &[&Package]) -> BTreeSet<PathBuf> {
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
    dirs
}

/// Returns the source folder of a cargo target. Returns `None` for a `build.rs` next to the manifest, because the folder of the manifest
/// also contains `target` and is watched without recursion.
fn source_dir(package: &Package, target: &Target) -> Option<PathBuf> {
    let dir = target.src_path.parent()?;
    let library = target.is_lib() || target.is_rlib() || target.is_cdylib() || target.is_proc_macro();
    let script = target.is_custom_build() && package.manifest_path.parent() != Some(dir);
    (library || script).then(|| dir.into())
}

pub(crate) fn same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
