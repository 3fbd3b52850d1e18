//! Build targets of a session: a host, and the folder arguments. Determines the targets that a saved file affects, because building the
//! remaining targets would delay the new code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use alcedo_build::{Artifact, BuildError, PluginFolder, SourceCrate, SourceWatch, WatchError, links, real_path};

use crate::scripts;

/// A folder of plugins, a host or a package of scripts.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    sources: Vec<PathBuf>,
    /// Libraries of the target's last build.
    pub(crate) artifacts: Vec<Artifact>,
    /// Files and folders that the last build has read, with all links resolved. Also contains each link to such a file or folder, with all
    /// links in the path of its folder resolved.
    pub(crate) inputs: BTreeSet<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Plugins that one cargo call builds.
    Plugins(PluginFolder),
    Host(SourceCrate),
    /// Scripts, which need no build.
    Scripts(Artifact),
}

/// Returns the host and the plugins in `dirs`. The host is first, because it is built first.
///
/// # Errors
/// Fails if a folder contains no plugins, or if cargo cannot read a folder.
pub(crate) fn find(host: Option<&SourceCrate>, dirs: &[PathBuf]) -> Result<Vec<Target>, BuildError> {
    let sources = |host: &SourceCrate| host.source_dirs.iter().map(|dir| real_path(dir)).collect();
    let host = host.map(|host| Target::new(Kind::Host(host.clone()), sources(host)));
    host.into_iter().map(Ok).chain(dirs.iter().map(|dir| target(dir))).collect()
}

fn target(dir: &Path) -> Result<Target, BuildError> {
    if scripts::is_package(dir) {
        let path = real_path(dir);
        let package = Artifact { package: scripts::name(dir), path: path.clone(), fresh: false };
        return Ok(Target::new(Kind::Scripts(package), vec![path]));
    }
    let folder = PluginFolder::of(dir)?;
    let sources = folder.plugins.iter().flat_map(|plugin| &plugin.source_dirs).map(|dir| real_path(dir));
    let sources: BTreeSet<_> = sources.collect();
    Ok(Target::new(Kind::Plugins(folder), sources.into_iter().collect()))
}

impl Target {
    fn new(kind: Kind, sources: Vec<PathBuf>) -> Self {
        Self { kind, sources, artifacts: Vec::new(), inputs: BTreeSet::new() }
    }

    /// Sets the result of a build. Excludes the folder of a package from the inputs, because its sources are known.
    pub(crate) fn set_artifacts(&mut self, artifacts: Vec<Artifact>) {
        let inputs = artifacts.iter().flat_map(Artifact::inputs).filter(|path| !path.join("Cargo.toml").is_file());
        let inputs: Vec<_> = inputs.collect();
        self.inputs = inputs.iter().map(|path| real_path(path)).chain(links(&inputs)).collect();
        self.artifacts = artifacts;
    }

    /// Returns true if a library of the last build was deleted, for example by `cargo clean`.
    pub(crate) fn lacks_library(&self) -> bool {
        matches!(self.kind, Kind::Plugins(_)) && self.artifacts.iter().any(|artifact| !artifact.path.exists())
    }

    /// Returns true if a build of the target reads the file: a file in a source folder, or a file or folder that the last build has read.
    pub(crate) fn reads(&self, path: &Path) -> bool {
        // A build script may list folders, so an input may also be a folder above the file.
        let is_input = path.ancestors().any(|part| self.inputs.contains(part));
        is_input || self.sources.iter().any(|source| path.starts_with(source))
    }

    /// Returns true if a build of the target contains the plugin with this manifest.
    pub(crate) fn contains(&self, manifest: &Path) -> bool {
        let Kind::Plugins(folder) = &self.kind else { return false };
        folder.plugins.iter().any(|plugin| real_path(&plugin.manifest) == manifest)
    }

    /// Returns the manifests of the plugins that the target omits.
    pub(crate) fn left_out(&self) -> Vec<PathBuf> {
        let Kind::Plugins(folder) = &self.kind else { return Vec::new() };
        folder.left_out.iter().map(|plugin| real_path(&plugin.manifest)).collect()
    }

    /// Returns the manifests of the host or of the plugins. A manifest may be outside the source folders and the folders above.
    fn manifests(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Plugins(folder) => folder.plugins.iter().map(|plugin| plugin.manifest.clone()).collect(),
            Kind::Host(host) => vec![host.manifest.clone()],
            Kind::Scripts(_) => Vec::new(),
        }
    }

    pub(crate) fn is_host(&self) -> bool {
        matches!(self.kind, Kind::Host(_))
    }
}

/// Returns every folder whose change triggers a build.
pub(crate) fn sources(targets: &[Target]) -> Vec<PathBuf> {
    let all: BTreeSet<_> = targets.iter().flat_map(|target| target.sources.iter().cloned()).collect();
    all.into_iter().collect()
}

/// Watches the sources, the manifests and the inputs of the targets.
pub(crate) fn watch(targets: &[Target]) -> Result<SourceWatch, WatchError> {
    let watch = SourceWatch::new(&sources(targets))?;
    watch.add_inputs(targets.iter().flat_map(|target| target.manifests().into_iter().chain(target.inputs.clone())));
    Ok(watch)
}

/// Returns the targets that depend on any of the `changed` files: a file in their source folders, or a file that their last build has read.
/// A file outside all source folders is often a manifest or a build script, which may affect any plugin target. Such a file affects the
/// host only if the host's builds read the file, or if the folder of the file is a package with the host's sources.
pub(crate) fn affected(targets: &[Target], changed: &[PathBuf]) -> BTreeSet<usize> {
    let concerns = |target: &Target, path: &Path| {
        target.sources.iter().any(|source| path.starts_with(source) || source.starts_with(path))
    };
    let may_concern = |target: &Target, path: &Path| {
        let Kind::Host(host) = &target.kind else { return true };
        let is_package = |dir: &Path| {
            let mut sources = target.sources.iter();
            sources.any(|source| source.parent() == Some(dir)) || real_path(&host.manifest).parent() == Some(dir)
        };
        let is_of_cargo = || host.cargo_files().iter().any(|file| file.starts_with(path));
        path.parent().is_some_and(is_package) || is_of_cargo()
    };
    let mut affected = BTreeSet::new();
    for path in changed {
        let is_outside = !targets.iter().any(|target| concerns(target, path));
        let is_affected =
            |target: &Target| concerns(target, path) || target.reads(path) || is_outside && may_concern(target, path);
        affected.extend((0..targets.len()).filter(|at| is_affected(&targets[*at])));
    }
    affected
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Artifact, Kind, PluginFolder, SourceCrate, Target, affected, find};

    #[test]
    fn a_saved_file_concerns_a_host_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("rig/src")).unwrap();
        std::os::unix::fs::symlink(root.join("rig"), root.join("link")).unwrap();
        let (manifest, source_dirs) = (root.join("link/Cargo.toml"), vec![root.join("link/src")]);
        let rig = SourceCrate { name: "rig".into(), manifest, source_dirs, default_run: None };
        let targets = find(Some(&rig), &[]).unwrap();
        assert_eq!(affected(&targets, &[root.join("rig/src/main.rs")]), [0].into());
    }

    #[test]
    fn a_saved_file_concerns_the_packages_built_from_it() {
        let plugins = PluginFolder { manifest: PathBuf::new(), plugins: Vec::new(), left_out: Vec::new() };
        let of_kind = |kind, sources: &[&str]| Target::new(kind, sources.iter().map(PathBuf::from).collect());
        let target = |sources: &[&str]| of_kind(Kind::Plugins(plugins.clone()), sources);
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
        let rig = |manifest: PathBuf| SourceCrate {
            name: "rig".into(),
            manifest,
            source_dirs: Vec::new(),
            default_run: None,
        };
        let host = of_kind(Kind::Host(rig("/w/rig/Cargo.toml".into())), &["/w/rig/src"]);
        let built = tempfile::tempdir().unwrap();
        std::fs::write(built.path().join("rig.d"), "rig: /w/rig/src/main.rs /w/rig/data /w/cube/src/shared.rs\n")
            .unwrap();
        let program = Artifact { package: "rig".into(), path: built.path().join("rig"), fresh: true };
        let mut targets = [host, targets[0].clone()];
        targets[0].set_artifacts(vec![program.clone()]);
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
        assert_eq!(["/w/.cargo", "/w/rig/shim.h", "/w/deny.toml"].map(of), [vec![0, 1], vec![0, 1], vec![1]]);
        assert_eq!(["/w/rig/data/a.txt", "/w/rig/other/a.txt"].map(of), [vec![0, 1], vec![1]]);
        assert_eq!(of("/w/cube/src/shared.rs"), [0, 1], "the host includes it");
        // A member may name its workspace in any folder.
        let root = built.path().canonicalize().unwrap();
        let all = root.join("all");
        std::fs::create_dir(&all).unwrap();
        let manifest = built.path().join("Cargo.toml");
        std::fs::write(&manifest, "[package]\nname = \"rig\"\nworkspace = \"all\"\n").unwrap();
        let mut host = of_kind(Kind::Host(rig(manifest)), &["/w/rig/src"]);
        assert_eq!(affected(std::slice::from_ref(&host), &[all.join("Cargo.toml")]), [0].into());
        // The build script of a host may list a file that does not exist yet, in a folder behind a link.
        std::os::unix::fs::symlink(&all, root.join("link")).unwrap();
        std::fs::write(built.path().join("rig.d"), format!("rig: {}\n", root.join("link/new.txt").display())).unwrap();
        host.set_artifacts(vec![program.clone()]);
        assert_eq!(affected(std::slice::from_ref(&host), &[all.join("new.txt")]), [0].into());
        // A file of the host may be a link, in a folder behind a link.
        std::os::unix::fs::symlink(root.join("one.txt"), all.join("text.txt")).unwrap();
        std::fs::write(built.path().join("rig.d"), format!("rig: {}\n", root.join("link/text.txt").display())).unwrap();
        host.set_artifacts(vec![program.clone()]);
        for edited in [all.join("text.txt"), root.join("link")] {
            assert_eq!(affected(std::slice::from_ref(&host), &[edited]), [0].into());
        }
        // The build script of a host may list the whole package, which may contain plugins.
        std::fs::write(built.path().join("rig.d"), format!("rig: {}\n", root.display())).unwrap();
        host.set_artifacts(vec![program]);
        assert!(affected(&[host], &[root.join("plugins/cube/src/lib.rs")]).is_empty());
    }
}
