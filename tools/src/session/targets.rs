//! Build targets: one cargo build per folder argument. Determines the targets that a saved file affects, since an unnecessary build delays
//! the new code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use alcedo_build::{Artifact, BuildError, BuildRequest, PluginFolder, SourceCrate};

use crate::modules::BuildOptions;
use crate::scripts;

/// A folder of plugins, a host or a package of scripts. One cargo call builds a folder of plugins. Scripts need no build.
#[derive(Clone, Debug, Default)]
pub(crate) struct Target {
    manifest: PathBuf,
    /// Names of the plugin packages to build.
    plugins: Vec<String>,
    /// The package of scripts; `None` for crates.
    pub(crate) scripts: Option<Artifact>,
    /// The package of the host; `None` for plugins.
    host: Option<String>,
    sources: Vec<PathBuf>,
    /// Libraries of the target's last build.
    pub(crate) artifacts: Vec<Artifact>,
}

/// Returns the host, which is built first, and the plugins in `dirs`.
///
/// # Errors
/// Fails for a folder without plugins, or a folder that cargo cannot read.
pub(crate) fn find(host: Option<&SourceCrate>, dirs: &[PathBuf]) -> Result<Vec<Target>, BuildError> {
    let host = host.map(|SourceCrate { name, manifest, source_dirs }| Target {
        manifest: manifest.clone(),
        host: Some(name.clone()),
        sources: source_dirs.clone(),
        ..Target::default()
    });
    host.into_iter().map(Ok).chain(dirs.iter().map(|dir| target(dir))).collect()
}

fn target(dir: &Path) -> Result<Target, BuildError> {
    if scripts::is_package(dir) {
        let folder = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let package = Artifact { package: scripts::name(dir), path: folder.clone(), fresh: false };
        let (manifest, sources) = (folder.clone(), vec![folder]);
        return Ok(Target { manifest, scripts: Some(package), sources, ..Target::default() });
    }
    let PluginFolder { manifest, plugins, .. } = PluginFolder::of(dir)?;
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let sources: BTreeSet<_> = plugins.iter().flat_map(|plugin| &plugin.source_dirs).map(|dir| whole(dir)).collect();
    Ok(Target {
        manifest,
        plugins: plugins.into_iter().map(|plugin| plugin.name).collect(),
        sources: sources.into_iter().collect(),
        ..Target::default()
    })
}

impl Target {
    pub(crate) fn is_host(&self) -> bool {
        self.host.is_some()
    }

    pub(crate) fn request(&self, options: &BuildOptions) -> BuildRequest<'_> {
        let request = BuildRequest::new(&self.manifest).release(options.release).color(options.color);
        let request = match &self.host {
            Some(package) => request.package(package).programs(),
            None => self.plugins.iter().fold(request, |request, plugin| request.package(plugin)),
        };
        match &options.target_dir {
            Some(dir) => request.target_dir(dir),
            None => request,
        }
    }
}

/// Returns every folder whose change triggers a build.
pub(crate) fn sources(targets: &[Target]) -> Vec<PathBuf> {
    let all: BTreeSet<_> = targets.iter().flat_map(|target| target.sources.iter().cloned()).collect();
    all.into_iter().collect()
}

/// Returns the targets that depend on any of the `changed` files. A file outside all sources is a manifest or a build script. Such a file
/// may affect any plugin target. It affects the host if the host's sources are below the file's folder.
pub(crate) fn affected(targets: &[Target], changed: &[PathBuf]) -> BTreeSet<usize> {
    let concerns = |target: &Target, path: &Path| {
        target.sources.iter().any(|source| path.starts_with(source) || source.starts_with(path))
    };
    let may_concern = |target: &Target, path: &Path| {
        !target.is_host() || folder(path).is_some_and(|dir| target.sources.iter().any(|source| source.starts_with(dir)))
    };
    changed
        .iter()
        .flat_map(|path| {
            let known: Vec<_> = (0..targets.len()).filter(|at| concerns(&targets[*at], path)).collect();
            if known.is_empty() {
                (0..targets.len()).filter(|at| may_concern(&targets[*at], path)).collect()
            } else {
                known
            }
        })
        .collect()
}

/// Returns the folder of a file; for cargo's configuration the folder above `.cargo`.
fn folder(path: &Path) -> Option<&Path> {
    let dir = path.parent()?;
    if dir.ends_with(".cargo") { dir.parent() } else { Some(dir) }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Target, affected};

    #[test]
    fn a_saved_file_concerns_the_packages_built_from_it() {
        let target = |sources: &[&str]| Target {
            manifest: PathBuf::new(),
            plugins: Vec::new(),
            scripts: None,
            host: None,
            sources: sources.iter().map(PathBuf::from).collect(),
            artifacts: Vec::new(),
        };
        let targets = [target(&["/w/cube/src", "/w/glue/src"]), target(&["/w/attributes/src", "/w/glue/src"])];
        let check = |changed: &[&str], expected: &[usize]| {
            let changed: Vec<_> = changed.iter().map(PathBuf::from).collect();
            assert_eq!(affected(&targets, &changed).into_iter().collect::<Vec<_>>(), expected, "{changed:?}");
        };
        check(&["/w/cube/src/lib.rs"], &[0]);
        check(&["/w/attributes/src/deep/x.rs"], &[1]);
        check(&["/w/glue/src/lib.rs"], &[0, 1]);
        check(&["/w/cube/src"], &[0]);
        check(&["/w/cube"], &[0]);
        check(&["/w/glue"], &[0, 1]);
        check(&["/w/cube/Cargo.toml"], &[0, 1]);
        check(&["/w/cube/src/lib.rs", "/w/attributes/src/lib.rs"], &[0, 1]);
        check(&[], &[]);
        let host = Target { host: Some("rig".into()), ..target(&["/w/rig/src"]) };
        let targets = [host, targets[0].clone()];
        let of = |changed: &str| affected(&targets, &[changed.into()]).into_iter().collect::<Vec<_>>();
        assert_eq!(
            ["/w/rig/src/main.rs", "/w/cube/src/lib.rs", "/w/Cargo.toml", "/w/rig/Cargo.toml", "/w/cube/Cargo.toml"]
                .map(of),
            [vec![0], vec![1], vec![0, 1], vec![0, 1], vec![1]],
        );
        assert_eq!(
            ["/w/.cargo/config.toml", "/w/cube/.cargo/config.toml", "/w/Cargo.lock"].map(of),
            [vec![0, 1], vec![1], vec![0, 1]],
        );
    }
}
